package explain

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"gate/hook"
)

// read leaves out the words that the rules themselves read, whatever they mean.
func (l *line) read(causes []Cause) {
	for _, c := range causes {
		for _, u := range c.Uses {
			for _, field := range slices.Sorted(maps.Keys(u.Fields)) {
				var n int
				if _, err := fmt.Sscanf(field, "words[%d]", &n); err != nil {
					continue
				}
				for i := range l.facts.Shell.Commands {
					o := &l.facts.Shell.Commands[i]
					if w := at(o.Words, n); o.ID == u.Command && n > 0 && w != nil && w.Span != nil {
						l.drop(WithoutArgument, costArgument, *w.Span)
					}
				}
			}
		}
	}
}

// inText replaces a path in a text or in code that stands literally in the line.
func (l *line) inText(p hook.Path) {
	m := &marker{ev: l.ev, facts: l.facts, home: l.x.Home}
	for _, spelt := range m.spellings(p.Raw) {
		at := findWord(l.text, spelt, 0, 0)
		s := hook.Span{at, at + utf8.RuneCountInString(spelt)}
		taken := func(e Edit) bool { return e.Kind == PathInProject && e.Span[0] <= s[0] && s[1] <= e.Span[1] }
		if spelt == "" || spelt == "-" || at < 0 || findWord(l.text, spelt, s[1], 0) >= 0 || slices.ContainsFunc(l.list, taken) {
			continue
		}
		dir := ""
		for i := range l.facts.Shell.Commands {
			if c := &l.facts.Shell.Commands[i]; c.ID == p.Command {
				dir = l.dir(c)
			}
		}
		l.add(Edit{Kind: PathInProject, Span: s, After: l.x.inProject(dir, p.Raw), cost: costPath})
		return
	}
}
