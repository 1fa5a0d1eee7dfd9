package tell

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gate/cmd/internal/document"
	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/explain"
	"gate/internal/strictjson"
)

// rewrites tells who changed the call, step by step.
func (t *telling) rewrites() {
	d := &t.e.Decision
	if len(d.Changes) == 0 {
		return
	}
	t.heading("changed before it runs:")
	for i, c := range d.Changes {
		t.printf("  %d. %s: %s\n", i+1, t.Name(strictjson.Visible(c.Hook)), screen.Hang(strictjson.Visible(c.Reason)))
		t.change(c.Before, c.After)
		t.rewriter(c.Hook)
	}
	rounds := 0
	for _, s := range d.Steps {
		rounds = max(rounds, s.Round)
	}
	t.printf("  judged again after that: %s\n", screen.Counted(rounds, "round"))
}

// rewriter tells which definition changed the call, and why.
func (t *telling) rewriter(id string) {
	for i := range t.e.Policies {
		p := &t.e.Policies[i]
		for j := range p.Rules {
			if d := &p.Rules[j]; p.ID == id && d.Rule == "modify" && d.Met {
				t.printf("     rule: modify at %s, because\n", t.pos(p.Source, d.Pos))
				t.told = map[string]bool{}
				t.conditions(d, "       ", names{})
			}
		}
	}
}

// change shows what a rewrite did, field by field and word by word.
func (t *telling) change(before, after any) {
	a, isObject := before.(map[string]any)
	b, stays := after.(map[string]any)
	if !isObject || !stays {
		a, b = map[string]any{"": before}, map[string]any{"": after}
	}
	for _, k := range slices.Sorted(maps.Keys(b)) {
		if was, is := flat(a[k]), flat(b[k]); was != is {
			t.printf("     %s%s\n", fieldName(k), t.diff(was, is))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if _, kept := b[k]; !kept {
			t.printf("     %s%s\n", fieldName(k), t.diff(flat(a[k]), ""))
		}
	}
}

func fieldName(k string) string {
	if k == "" {
		return ""
	}
	return strictjson.OneLine(k) + ": "
}

// flat is a value as people read it in one text.
func flat(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if v == nil {
		return ""
	}
	return document.Line(v)
}

// diff is a change of a text: [-what went-] and {+what came+}.
func (t *telling) diff(before, after string) string {
	var b strings.Builder
	for _, piece := range explain.Diff(before, after) {
		word := strictjson.Visible(piece.Text)
		trail := word[len(strings.TrimRight(word, " \n")):]
		word = strings.TrimRight(word, " \n")
		switch piece.Side {
		case '-':
			b.WriteString(t.Effect(hook.Deny, "[-"+word+"-]") + trail)
		case '+':
			b.WriteString(t.Effect(hook.Pass, "{+"+word+"+}") + trail)
		default:
			b.WriteString(word + trail)
		}
	}
	return screen.Hang(b.String())
}

// taken tells what levels, exceptions, approvals and authority took from
// answers.
func (t *telling) taken() {
	first := true
	for _, s := range t.e.Decision.Steps {
		if s.Would == nil && len(s.Ignored) == 0 {
			continue
		}
		if first {
			t.heading("said, but does not count:")
			first = false
		}
		for _, i := range s.Ignored {
			t.printf("  %s: %s\n", t.Name(strictjson.Visible(s.Hook.ID)), strictjson.OneLine(i))
		}
		if s.Would != nil {
			for _, r := range s.Would.Reasons {
				t.printf("    would %s: %s\n", r.Effect, strictjson.OneLine(r.Reason))
			}
		}
	}
}

// changes tells the smallest changes that lead to a lower effect.
func (t *telling) changes() {
	e := t.e
	if e.Searched == 0 {
		return
	}
	if len(e.Changes) == 0 {
		cut := ""
		if e.Cut {
			cut = ", then time or number ran out"
		}
		t.printf("\nno small change of the call leads to another answer (%d tried%s)\n", e.Searched, cut)
		return
	}
	t.heading("the smallest changes that lead to another answer:")
	for _, c := range e.Changes {
		phrases := make([]string, len(c.Edits))
		for i, edit := range c.Edits {
			phrases[i] = phrase(edit)
		}
		t.printf("  %s: %s\n", strings.Join(phrases, " and "), t.Effect(c.Effect, c.Effect.String()))
	}
}

// phrase says what an edit does, as a condition.
func phrase(e explain.Edit) string {
	before, after := screen.Short(strictjson.OneLine(e.Before), screen.LabelWidth), screen.Short(strictjson.OneLine(e.After), screen.LabelWidth)
	switch {
	case e.Kind == explain.PathInProject:
		return fmt.Sprintf("with a path inside the project (%s) instead of %s", after, before)
	case e.Kind == explain.OtherBranch:
		return fmt.Sprintf("with another branch (%s) instead of %s", after, before)
	case e.Kind == explain.Quoted:
		return fmt.Sprintf("with %s in single quotes, so that nothing in it runs", before)
	case e.After != "":
		return fmt.Sprintf("with %s instead of %s", after, before)
	}
	return "without " + before
}
