package tell

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/explain"
	"gate/internal/strictjson"
)

// silent tells of each policy that ran and said nothing which condition was the
// first that was not true, of the rule that came furthest.
func (t *telling) silent() {
	shown := 0
	for i := range t.e.Policies {
		p := &t.e.Policies[i]
		if len(p.Steps) == 0 || speaks(p) {
			continue
		}
		if shown == 0 {
			t.heading("asked, without an objection:")
		}
		if shown++; shown > mostPolicies && !t.all {
			t.printf("  %s\n", t.Faint("and others; --all lists them"))
			return
		}
		t.printf("  %s%s\n", t.Name(strictjson.Visible(p.ID)), t.Faint(t.stepNotes(p)))
		if p.Err != nil {
			t.printf("    cannot be looked into: %s\n", strictjson.OneLine(p.Err.Error()))
		}
		if d := furthest(p.Rules); d != nil {
			t.lacks(d, "    "+d.Rule+": ", names{})
		}
	}
}

func speaks(p *explain.Policy) bool {
	return slices.ContainsFunc(p.Steps, func(s hook.Step) bool { return len(s.Verdict.Reasons)+len(s.Verdict.Halt)+len(s.Verdict.Warnings) > 0 })
}

func (t *telling) stepNotes(p *explain.Policy) string {
	notes := ""
	if p.Source != "library" {
		notes = " (" + strictjson.Visible(p.Source) + ")"
	}
	if p.WhyNot != "" {
		notes += ": " + strictjson.Visible(p.WhyNot)
	}
	for _, s := range p.Steps {
		if s.Fault != nil {
			notes += " could not answer: " + strictjson.OneLine(s.Fault.Error())
		}
		if n := len(s.Verdict.Rewrites); n > 0 {
			notes += " rewrites the call"
		}
	}
	return notes
}

// furthest is the definition of which most was true.
func furthest(rules []explain.Definition) *explain.Definition {
	var best *explain.Definition
	for i := range rules {
		if d := &rules[i]; !d.Met && (best == nil || progress(d) > progress(best)) {
			best = d
		}
	}
	return best
}

// lacks shows the condition that was not true, in one line.
func (t *telling) lacks(d *explain.Definition, lead string, known names) {
	known = maps.Clone(known)
	for i := range d.Conditions {
		c := &d.Conditions[i]
		if c.Met {
			continue
		}
		var list []string
		for _, o := range d.Conditions {
			for _, v := range o.Values {
				if v.Path != "" && isName(v.Text) {
					known[v.Path] = v.Text
				}
			}
		}
		add := func(v explain.Value) {
			if line := said(c, v, known); line != "" && len(list) < mostValues && !slices.Contains(list, line) {
				list = append(list, line)
			}
		}
		for _, v := range c.Values {
			add(v)
		}
		for j := range c.Helpers {
			eachFact(&c.Helpers[j], add)
		}
		line := lead + "not true: " + screen.Short(strictjson.Visible(c.Text), screen.LabelWidth)
		if len(list) > 0 {
			line += "; " + strings.Join(list, ", ")
		}
		t.printf("%s %s\n", line, t.Faint("("+strictjson.Visible(path.Base(c.Pos))+")"))
	}
}

// unconcerned lists the policies that did not run, and why: people's own ones
// first.
func (t *telling) unconcerned() {
	var list []*explain.Policy
	for i := range t.e.Policies {
		if p := &t.e.Policies[i]; len(p.Steps) == 0 {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b *explain.Policy) int {
		return cmp.Compare(ofLibrary(a), ofLibrary(b))
	})
	if len(list) == 0 {
		return
	}
	t.heading("not concerned:")
	const most = 5
	for i, p := range list {
		if !t.all && i >= most && (p.Library || i >= mostPolicies) {
			t.printf("  %s\n", t.Faint("and "+screen.Counted(len(list)-i, "other")+"; --all lists them"))
			return
		}
		t.printf("  %s: %s\n", t.Name(strictjson.Visible(p.ID)), strictjson.Visible(p.WhyNot))
	}
}

func ofLibrary(p *explain.Policy) int {
	if p.Library {
		return 1
	}
	return 0
}
