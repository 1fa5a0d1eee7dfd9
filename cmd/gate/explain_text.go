package main

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"gate/audit"
	"gate/explain"
	"gate/hook"
)

// A telling is an explanation on its way to a person.
type telling struct {
	strings.Builder
	style
	p   process
	g   *guard
	e   *explain.Explanation
	all bool

	told map[string]bool // values that the cause at hand has named
}

// printExplanation tells a person what was decided, why, and what would have
// led to another answer: the deciding part first, everything else shorter.
func printExplanation(p process, g *guard, e *explain.Explanation, all bool) error {
	t := &telling{style: p.style(), p: p, g: g, e: e, all: all}
	t.printf("%s\n", t.faint(oneLine(fmt.Sprintf("%s %s", e.Event.Name, e.Event.Tool()))))
	if f := e.Decision.Fault; f != nil {
		t.printf("%s: gate could not decide: %s\n", t.effect(e.Decision.Effect, e.Decision.Effect.String()), visible(f.Error()))
	}
	t.causes()
	if len(e.Causes) == 0 && e.Decision.Fault == nil {
		t.passed()
	}
	t.rewrites()
	t.taken()
	t.changes()
	t.silent()
	t.unconcerned()
	for _, n := range e.Decision.Notices {
		t.printf("note: %s\n", visible(n))
	}
	return printAll(p, t.String())
}

func (t *telling) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// heading begins a part.
func (t *telling) heading(text string) { t.printf("\n%s\n", t.strong(text)) }

// causes tells the reasons, those of the decision's own effect first.
func (t *telling) causes() {
	for _, decisive := range []bool{true, false} {
		for i := range t.e.Causes {
			if c := &t.e.Causes[i]; (c.Effect == t.e.Decision.Effect) == decisive {
				if i > 0 || !decisive {
					t.printf("\n")
				}
				t.cause(c)
			}
		}
	}
}

func (t *telling) cause(c *explain.Cause) {
	t.printf("%s: %s\n", t.effect(c.Effect, c.Effect.String()), indentRest(visible(c.Reason.Reason)))
	for _, text := range c.Texts {
		if len(text.Marks) == 0 && text.Where == "" && len(c.Texts) > 1 {
			continue
		}
		if text.Where != "" {
			t.printf("  %s:\n", t.faint(oneLine(text.Where)))
		}
		if len(text.Marks) == 0 {
			t.printf("  %s\n", shortened(oneLine(text.Text), pointWidth))
			continue
		}
		t.WriteString(t.marked(c.Effect, text.Text, text.Marks))
	}
	t.commands(c.Uses)
	for i := range c.Uses {
		t.use(&c.Uses[i])
	}
	where := visible(c.Source)
	if c.Rule == nil && c.Pos != "" {
		where += ", " + visible(t.p.tilde(c.Pos))
	}
	t.printf("  policy: %s (%s)\n", t.name(visible(c.ID)), where)
	t.told = map[string]bool{}
	if c.Rule != nil {
		t.printf("  rule:   %s at %s, because\n", c.Rule.Rule, t.pos(c.Source, c.Rule.Pos))
		t.conditions(c.Rule, "    ", names{})
	}
	if c.Suggestion != "" {
		t.printf("  instead: %s\n", indentRest(visible(c.Suggestion)))
	}
	if c.Help != "" {
		t.printf("hint: %s\n", indentRest(visible(c.Help)))
	}
}

// pos is where something stands, as an editor opens it.
func (t *telling) pos(source, pos string) string {
	return visible(t.p.tilde(t.g.position(source, pos)))
}

// commands tells what runs, where and through what.
func (t *telling) commands(used []explain.Use) {
	f := t.e.Event.Facts
	if f == nil || f.Shell == nil {
		return
	}
	seen := map[int]bool{}
	for _, u := range used {
		for i := range f.Shell.Commands {
			c := &f.Shell.Commands[i]
			if c.ID != u.Command || seen[c.ID] {
				continue
			}
			seen[c.ID] = true
			if len(f.Shell.Commands) == 1 && len(c.Via) == 0 && c.Dir != nil && *c.Dir == t.e.Event.Dir() {
				continue // it is the line itself
			}
			t.printf("  runs:   %s\n", commandWords(c)+commandPlace(t.p, c, t.e.Event.Dir()))
		}
	}
}

// use tells one fact, with what the rule read of it.
func (t *telling) use(u *explain.Use) {
	f := t.e.Event.Facts
	if e := u.Effect(f); e != nil {
		t.printf("  effect: %s\n", effectLine(*e))
		return
	}
	if n := u.Unknown(f); n != nil {
		t.printf("  unknown: %s: %s\n", visible(n.Kind), oneLine(n.Why))
		return
	}
	if u.Command > 0 {
		return
	}
	if v, ok := u.Fields[""]; ok {
		t.printf("  field:  %s = %s\n", visible(u.Path), inShort(v))
	}
}

// inShort is a value in a short line.
func inShort(v any) string { return shortened(oneLine(text(v)), labelWidth) }

// passed tells what gate saw in a call that nobody objects to.
func (t *telling) passed() {
	d := &t.e.Decision
	what := "no policy objects"
	if d.Rewrite != nil {
		what = "it runs changed"
	}
	t.printf("%s: %s\n", t.effect(d.Effect, d.Effect.String()), what)
	if text := shellText(d); text != "" {
		t.printf("  %s\n", shortened(oneLine(text), pointWidth))
	} else {
		t.printf("  %s\n", shortened(oneLine(audit.Summary(&t.e.Event)), pointWidth))
	}
	if f := t.e.Event.Facts; f != nil {
		for _, e := range f.Effects {
			t.printf("  effect: %s\n", effectLine(e))
		}
		for _, n := range f.Unknown {
			t.printf("  unknown: %s: %s\n", visible(n.Kind), oneLine(n.Why))
		}
	}
	if n := t.e.Nearest; n != nil {
		t.heading("nearest to an objection:")
		t.told = map[string]bool{}
		t.printf("  %s would %s (%s), but\n", t.name(visible(n.Policy)), n.Rule.Rule, visible(path.Base(n.Rule.Pos)))
		t.conditions(&n.Rule, "    ", names{})
	}
}

// rewrites tells who changed the call, step by step.
func (t *telling) rewrites() {
	d := &t.e.Decision
	if len(d.Changes) == 0 {
		return
	}
	t.heading("changed before it runs:")
	for i, c := range d.Changes {
		t.printf("  %d. %s: %s\n", i+1, t.name(visible(c.Hook)), indentRest(visible(c.Reason)))
		t.change(c.Before, c.After)
	}
	rounds := 0
	for _, s := range d.Steps {
		rounds = max(rounds, s.Round)
	}
	t.printf("  judged again after that: %s\n", count(rounds, "round"))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
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
	return oneLine(k) + ": "
}

// flat is a value as people read it in one text.
func flat(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if v == nil {
		return ""
	}
	return text(v)
}

// diff is a change of a text: [-what went-] and {+what came+}.
func (t *telling) diff(before, after string) string {
	var b strings.Builder
	for _, piece := range explain.Diff(before, after) {
		word := visible(piece.Text)
		trail := word[len(strings.TrimRight(word, " \n")):]
		word = strings.TrimRight(word, " \n")
		switch piece.Side {
		case '-':
			b.WriteString(t.effect(hook.Deny, "[-"+word+"-]") + trail)
		case '+':
			b.WriteString(t.effect(hook.Pass, "{+"+word+"+}") + trail)
		default:
			b.WriteString(word + trail)
		}
	}
	return indentRest(b.String())
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
			t.printf("  %s: %s\n", t.name(visible(s.Hook.ID)), oneLine(i))
		}
		if s.Would != nil {
			for _, r := range s.Would.Reasons {
				t.printf("    would %s: %s\n", r.Effect, oneLine(r.Reason))
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
		t.printf("\nno small change of the call leads to another answer (%d tried)\n", e.Searched)
		return
	}
	t.heading("the smallest changes that lead to another answer:")
	for _, c := range e.Changes {
		phrases := make([]string, len(c.Edits))
		for i, edit := range c.Edits {
			phrases[i] = phrase(edit)
		}
		t.printf("  %s: %s\n", strings.Join(phrases, " and "), t.effect(c.Effect, c.Effect.String()))
	}
}

// phrase says what an edit does, as a condition.
func phrase(e explain.Edit) string {
	before, after := shortened(oneLine(e.Before), labelWidth), shortened(oneLine(e.After), labelWidth)
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
