// Package tell puts decisions, facts, explanations and records of the decision log into
// words for people.
//
// It writes nothing and knows no flags: each function returns a whole text, which
// cannot steer a terminal whatever the call holds. Package document does the same for
// programs. Start with Decision.
package tell

import (
	"fmt"
	"path"
	"strings"

	"gate/cmd/internal/document"
	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/explain"
	"gate/internal/strictjson"
)

// A telling is an explanation on its way to a person.
type telling struct {
	strings.Builder
	screen.Page
	at  document.Positions
	e   *explain.Explanation
	all bool

	told      map[string]bool // values that the cause at hand has named
	explained map[string]bool // definitions whose conditions have been shown
}

// Explanation tells a person what was decided, why, and what would have
// led to another answer: the deciding part first, everything else shorter.
func Explanation(p screen.Page, e *explain.Explanation, at document.Positions, all bool) string {
	t := &telling{Page: p, at: at, e: e, all: all, explained: map[string]bool{}}
	t.printf("%s\n", t.Faint(strictjson.OneLine(fmt.Sprintf("%s %s", e.Event.Name, e.Event.Tool()))))
	if f := e.Decision.Fault; f != nil {
		t.printf("%s: gate could not decide: %s\n", t.Effect(e.Decision.Effect, e.Decision.Effect.String()), strictjson.Visible(f.Error()))
	}
	t.causes()
	if len(e.Causes) == 0 && e.Decision.Fault == nil {
		t.passed()
	}
	t.warnings()
	t.rewrites()
	t.taken()
	t.changes()
	t.silent()
	t.unconcerned()
	marksText(t, "remembers", e.Decision.Remember)
	for _, n := range e.Decision.Notices {
		t.printf("note: %s\n", strictjson.Visible(n))
	}
	return t.String()
}

func (t *telling) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// heading begins a part.
func (t *telling) heading(text string) { t.printf("\n%s\n", t.Strong(text)) }

// causes tells the reasons, those of the decision's own effect first.
func (t *telling) causes() {
	shown := 0
	for _, decisive := range []bool{true, false} {
		for i := range t.e.Causes {
			c := &t.e.Causes[i]
			if (c.Effect == t.e.Decision.Effect) != decisive {
				continue
			}
			if shown > 0 {
				t.printf("\n")
			}
			if shown++; shown > mostCauses && !t.all {
				t.printf("and %s; --all tells them\n", screen.Counted(len(t.e.Causes)-mostCauses, "other reason"))
				return
			}
			t.cause(c, c.Effect.String())
		}
	}
}

// mostCauses is how many reasons a person reads.
const mostCauses = 8

// warnings tells what was said and stops nothing.
func (t *telling) warnings() {
	for i := range t.e.Warnings {
		c := t.e.Warnings[i]
		c.Effect = hook.Ask // it is shown like one
		t.printf("\n")
		t.cause(&c, "warning")
	}
	for _, c := range t.e.Decision.Context {
		t.printf("\ncontext: %s\n", screen.Hang(strictjson.Visible(c.Text)))
	}
}

func (t *telling) cause(c *explain.Cause, word string) {
	t.printf("%s: %s\n", t.Effect(c.Effect, word), screen.Hang(strictjson.Visible(c.Reason.Reason)))
	for _, text := range c.Texts {
		if len(text.Marks) == 0 && text.Where == "" && len(c.Texts) > 1 {
			continue
		}
		if text.Where != "" {
			t.printf("  %s:\n", t.Faint(strictjson.OneLine(text.Where)))
		}
		if len(text.Marks) == 0 {
			t.printf("  %s\n", screen.Short(strictjson.OneLine(text.Text), screen.LineWidth))
			continue
		}
		t.WriteString(t.Marked(c.Effect, text.Text, text.Marks))
	}
	t.commands(c.Uses)
	for i := range c.Uses {
		t.use(&c.Uses[i])
	}
	where := strictjson.Visible(c.Source)
	if c.Rule == nil && c.Pos != "" {
		where += ", " + strictjson.Visible(t.Tilde(c.Pos))
	}
	t.printf("  policy: %s (%s)\n", t.Name(strictjson.Visible(c.ID)), where)
	t.told = map[string]bool{}
	if c.Rule != nil {
		where := t.pos(c.Source, c.Rule.Pos)
		if t.explained[where] {
			t.printf("  rule:   %s at %s, as above\n", c.Rule.Rule, where)
		} else {
			t.explained[where] = true
			t.printf("  rule:   %s at %s, because\n", c.Rule.Rule, where)
			t.conditions(c.Rule, "    ", names{})
		}
	}
	if c.Suggestion != "" {
		t.printf("  instead: %s\n", screen.Hang(strictjson.Visible(c.Suggestion)))
	}
	if c.Help != "" {
		t.printf("hint: %s\n", screen.Hang(strictjson.Visible(c.Help)))
	}
}

// pos is where something stands, as an editor opens it.
func (t *telling) pos(source, pos string) string {
	return strictjson.Visible(t.Tilde(t.at.Position(source, pos)))
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
			t.printf("  runs:   %s\n", commandWords(c)+commandPlace(t.Page, c, t.e.Event.Dir()))
		}
	}
}

// use tells one fact, with what the rule read of it.
func (t *telling) use(u *explain.Use) {
	f := t.e.Event.Facts
	if e := u.Effect(f); e != nil {
		t.printf("  effect: %s\n", effectLine(hook.Tree(e)))
		return
	}
	if n := u.Unknown(f); n != nil {
		t.printf("  unknown: %s: %s\n", strictjson.Visible(n.Kind), strictjson.OneLine(n.Why))
		return
	}
	if u.Command > 0 {
		return
	}
	if v, ok := u.Fields[""]; ok {
		t.printf("  field:  %s = %s\n", strictjson.Visible(u.Path), inShort(v))
	}
}

// inShort is a value in a short line.
func inShort(v any) string {
	return screen.Short(strictjson.OneLine(document.Line(v)), screen.LabelWidth)
}

// passed tells what gate saw in a call that nobody objects to.
func (t *telling) passed() {
	d := &t.e.Decision
	what := "no policy objects"
	switch {
	case d.Confined != nil:
		what = "it runs confined by the profile " + strictjson.Visible(d.Confined.Profile)
	case d.Rewrite != nil:
		what = "it runs changed"
	}
	t.printf("%s: %s\n", t.Effect(d.Effect, d.Effect.String()), what)
	if d.Confined != nil {
		for _, what := range d.Confined.Refused {
			t.printf("  refused: %s\n", strictjson.Visible(what))
		}
	}
	if text := shellText(d); text != "" {
		t.printf("  %s\n", screen.Short(strictjson.OneLine(text), screen.LineWidth))
	} else {
		t.printf("  %s\n", screen.Short(strictjson.OneLine(audit.Summary(&t.e.Event)), screen.LineWidth))
	}
	if f := t.e.Event.Facts; f != nil {
		for _, e := range f.Effects {
			t.printf("  effect: %s\n", effectLine(hook.Tree(&e)))
		}
		for _, n := range f.Unknown {
			t.printf("  unknown: %s: %s\n", strictjson.Visible(n.Kind), strictjson.OneLine(n.Why))
		}
	}
	if n := t.e.Nearest; n != nil {
		t.heading("nearest to an objection:")
		t.told = map[string]bool{}
		t.printf("  %s would %s (%s), but\n", t.Name(strictjson.Visible(n.Policy)), n.Rule.Rule, strictjson.Visible(path.Base(n.Rule.Pos)))
		t.conditions(&n.Rule, "    ", names{})
	}
}
