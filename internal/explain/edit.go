package explain

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gate/hook"
)

// What edits cost: the smaller the change of what the call is for, the less.
// The length of what is left out decides between equals.
const (
	costQuote = 100 * (iota + 1)
	costOption
	costPath
	costBranch
	costRedirect
	costWrapper
	costArgument
	costCommand
)

// edits lists the single edits of a call that are worth trying, the cheapest
// first.
func (x *Explainer) edits(ev *hook.Event, causes []Cause) []Edit {
	var list []Edit
	if f := ev.Facts; f != nil && f.Shell != nil {
		l := &line{x: x, ev: ev, facts: f, text: []rune(f.Shell.Text)}
		for _, field := range slices.Sorted(maps.Keys(ev.ToolInput())) {
			if s, ok := ev.ToolInput()[field].(string); ok && s == f.Shell.Text {
				l.field = field
			}
		}
		if l.field != "" {
			l.edits()
			l.read(causes)
		}
		list = l.list
	} else {
		list = x.fieldEdits(ev)
	}
	slices.SortStableFunc(list, func(a, b Edit) int { return a.cost - b.cost })
	return list
}

// fieldEdits replaces paths of another tool's input.
func (x *Explainer) fieldEdits(ev *hook.Event) []Edit {
	var list []Edit
	input := ev.ToolInput()
	for _, name := range slices.Sorted(maps.Keys(input)) {
		s, ok := input[name].(string)
		isPath := func(p hook.Path) bool { return p.Raw == s && s != "" }
		if ok && ev.Facts != nil && slices.ContainsFunc(ev.Facts.Paths, isPath) {
			list = append(list, Edit{
				Kind: PathInProject, Field: name, Span: hook.Span{0, utf8.RuneCountInString(s)},
				Before: s, After: x.inProject(ev.Dir(), s), cost: costPath,
			})
		}
	}
	return list
}

// A line collects the edits of a shell line.
type line struct {
	x     *Explainer
	ev    *hook.Event
	facts *hook.Facts
	field string
	text  []rune
	list  []Edit
}

func (l *line) edits() {
	commands := l.facts.Shell.Commands
	for i := range commands {
		c := &commands[i]
		if firstSpan(c) == nil {
			continue
		}
		for j := 1; j < len(c.Words); j++ {
			if s := c.Words[j].Span; s != nil && *s != *firstSpan(c) {
				l.word(c, j, *s)
			}
		}
		for _, r := range c.Redirects {
			if r.Span != nil && !strings.HasPrefix(r.Op, "<<") {
				l.drop(WithoutRedirect, costRedirect, *r.Span)
			}
		}
		if c.Span == nil {
			continue
		}
		if first := firstSpan(c)[0]; len(c.Via) > 0 && c.Span[0] < first {
			l.drop(WithoutWrapper, costWrapper, hook.Span{c.Span[0], first})
		}
		if len(commands) > 1 {
			l.command(*c.Span)
		}
	}
	for _, p := range l.facts.Paths {
		l.inText(p)
	}
}

func (l *line) cut(s hook.Span) string {
	if s[0] < 0 || s[1] > len(l.text) || s[0] > s[1] {
		return ""
	}
	return string(l.text[s[0]:s[1]])
}

func (l *line) add(e Edit) {
	e.Field, e.Before = l.field, l.cut(e.Span)
	e.cost += len(e.Before)
	if e.Before != "" && e.Before != e.After {
		l.list = append(l.list, e)
	}
}

// drop leaves a part out, with the blanks before it.
func (l *line) drop(kind ChangeKind, cost int, s hook.Span) {
	from := s[0]
	for from > 0 && (l.text[from-1] == ' ' || l.text[from-1] == '\t') {
		from--
	}
	if from == 0 || l.text[from-1] == '\n' { // the first of a line: the blanks behind it
		from = s[0]
		for s[1] < len(l.text) && l.text[s[1]] == ' ' {
			s[1]++
		}
	}
	l.add(Edit{Kind: kind, Span: hook.Span{from, s[1]}, cost: cost})
}

// word adds the edits of one word.
func (l *line) word(c *hook.ShellCommand, n int, s hook.Span) {
	w, raw := c.Words[n], l.cut(s)
	if s, ok := l.withValue(c, n); ok {
		l.drop(WithoutOption, costOption, s)
	}
	switch {
	case strings.HasPrefix(raw, "--") && len(raw) > 2, strings.HasPrefix(raw, "-") && len(raw) == 2:
		l.drop(WithoutOption, costOption, s)
	case strings.HasPrefix(raw, "-") && len(raw) > 2:
		l.drop(WithoutOption, costOption+20, s)
		if plainCluster(raw) {
			for i := 1; i < len(raw); i++ {
				l.add(Edit{Kind: WithoutOption, Span: s, After: raw[:i] + raw[i+1:], cost: costOption})
			}
		}
	case l.isPath(c, w, raw):
		l.add(Edit{Kind: PathInProject, Span: s, After: l.x.inProject(l.dir(c), raw), cost: costPath})
		if l.others(c, w) {
			l.drop(WithoutArgument, costArgument, s)
		}
	case l.isBranch(c, w):
		l.add(Edit{Kind: OtherBranch, Span: s, After: "my-change", cost: costBranch})
	}
	if strings.HasPrefix(raw, `"`) && strings.HasSuffix(raw, `"`) && strings.ContainsAny(raw, "$`") && !strings.Contains(raw, "'") {
		l.add(Edit{Kind: Quoted, Span: s, After: "'" + raw[1:len(raw)-1] + "'", cost: costQuote})
	}
}

// withValue returns an option together with the word after it, if that is the
// option's value.
func (l *line) withValue(c *hook.ShellCommand, n int) (hook.Span, bool) {
	if n+1 >= len(c.Words) || c.Words[n+1].Span == nil || !strings.HasPrefix(l.cut(*c.Words[n].Span), "-") {
		return hook.Span{}, false
	}
	value := c.Words[n+1].Value
	if value == nil || strings.HasPrefix(*value, "-") || c.Subcommand != nil && slices.Contains(strings.Fields(*c.Subcommand), *value) {
		return hook.Span{}, false
	}
	for _, given := range c.Options {
		if slices.Contains(given, any(*value)) {
			return hook.Span{c.Words[n].Span[0], c.Words[n+1].Span[1]}, true
		}
	}
	return hook.Span{}, false
}

func (l *line) dir(c *hook.ShellCommand) string {
	if c.Dir != nil {
		return *c.Dir
	}
	return ""
}

// plainCluster reports short options written together, such as -rf.
func plainCluster(raw string) bool {
	return len(raw) > 1 && len(raw) <= 6 && raw[0] == '-' && !strings.ContainsFunc(raw[1:], func(r rune) bool { return !unicode.IsLetter(r) || r > unicode.MaxASCII })
}

// isPath reports that a word names a path that the command uses. A word that is
// not known may be one.
func (l *line) isPath(c *hook.ShellCommand, w hook.Word, raw string) bool {
	if raw == "-" {
		return false
	}
	for _, p := range l.facts.Paths {
		if p.Command != c.ID && !l.within(c, p.Command) {
			continue
		}
		if w.Value != nil && (p.Raw == *w.Value || p.Path != nil && *p.Path == *w.Value) || p.Raw == raw && raw != "" {
			return true
		}
		if w.Value == nil && p.Path == nil {
			return true
		}
	}
	return false
}

// others reports that the command would still have a path to do the same with.
func (l *line) others(c *hook.ShellCommand, w hook.Word) bool {
	n := map[string]int{}
	access := ""
	for _, p := range l.facts.Paths {
		if p.Command == c.ID {
			n[p.Access]++
			if w.Value != nil && p.Raw == *w.Value {
				access = p.Access
			}
		}
	}
	return access != "" && n[access] > 1
}

// within reports that a command stands in the words of another one, as that
// behind find -exec does.
func (l *line) within(c *hook.ShellCommand, id int) bool {
	for i := range l.facts.Shell.Commands {
		o := &l.facts.Shell.Commands[i]
		if o.ID == id && o.Span != nil && c.Span != nil && o.ID != c.ID {
			return o.Depth > c.Depth && o.Span[0] >= c.Span[0] && o.Span[1] <= c.Span[1]
		}
	}
	return false
}

func (l *line) isBranch(c *hook.ShellCommand, w hook.Word) bool {
	for _, e := range l.facts.Effects {
		if push, ok := e.Is.(*hook.GitPush); ok && e.Command == c.ID && w.Value != nil && *w.Value != "" && slices.Contains(push.Branches, *w.Value) {
			return true
		}
	}
	return false
}

// command leaves a whole command out, with the operator that joins it to its
// neighbour.
func (l *line) command(s hook.Span) {
	from, to := s[0], s[1]
	before := strings.TrimRightFunc(l.cut(hook.Span{0, from}), unicode.IsSpace)
	after := strings.TrimLeftFunc(l.cut(hook.Span{to, len(l.text)}), unicode.IsSpace)
	for _, op := range []string{"&&", "||", "|&", "|", ";", "&"} {
		if rest, ok := strings.CutSuffix(before, op); ok {
			from = utf8.RuneCountInString(strings.TrimRightFunc(rest, unicode.IsSpace))
			l.add(Edit{Kind: WithoutCommand, Span: hook.Span{from, to}, cost: costCommand})
			return
		}
	}
	for _, op := range []string{"&&", "||", "|&", "|", ";", "&", "\n"} {
		if rest, ok := strings.CutPrefix(after, op); ok {
			to = len(l.text) - utf8.RuneCountInString(strings.TrimLeftFunc(rest, unicode.IsSpace))
			l.add(Edit{Kind: WithoutCommand, Span: hook.Span{from, to}, cost: costCommand})
			return
		}
	}
	l.add(Edit{Kind: WithoutCommand, Span: s, cost: costCommand})
}
