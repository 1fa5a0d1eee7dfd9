package explain

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gate/hook"
)

// A Text is one text of the call with the parts that mattered: the shell line,
// a text inside it that is not literally there, or a field of another tool's
// input.
type Text struct {
	Where string // what it is, for people; "" for the shell line
	Text  string
	Marks []Mark // in the order of the text; they do not overlap
}

// A Mark is a part of a text that mattered.
type Mark struct {
	Span  hook.Span // code points of the text
	Label string    // program, through sudo, path /etc (system) …
}

// texts returns the texts that a cause is about. The facts that its rule read
// decide; where none are known the span that the rule itself gave.
func (x *Explainer) texts(ev *hook.Event, used []Use, span *hook.Span) []Text {
	m := &marker{ev: ev, facts: ev.Facts, home: x.Home, read: x.Read}
	if m.facts == nil || m.facts.Shell == nil {
		return m.fields(used)
	}
	m.texts = []Text{{Text: m.facts.Shell.Text}}
	for i := range used {
		if u := &used[i]; u.Command > 0 {
			m.command(u)
		}
		if n := used[i].Unknown(m.facts); n != nil && n.Span != nil {
			m.mark(0, *n.Span, n.Why)
		}
	}
	if len(m.texts[0].Marks) == 0 && span != nil {
		m.mark(0, *span, "")
	}
	for i := range used { // what is said of the whole line
		if n := used[i].Unknown(m.facts); n != nil && n.Span == nil && len(m.texts[0].Marks) == 0 && n.Command == 0 {
			m.mark(0, hook.Span{0, utf8.RuneCountInString(m.texts[0].Text)}, n.Why)
		}
	}
	for i := range m.texts {
		slices.SortFunc(m.texts[i].Marks, func(a, b Mark) int { return cmp.Compare(a.Span[0], b.Span[0]) })
	}
	return m.texts
}

// A marker finds the words of facts in the texts of a call.
type marker struct {
	ev    *hook.Event
	facts *hook.Facts
	home  string
	read  func(string) (string, error)
	texts []Text
}

// mark adds a mark unless another one is there.
func (m *marker) mark(text int, s hook.Span, label string) {
	t := &m.texts[text]
	if s[0] < 0 || s[1] <= s[0] || s[1] > utf8.RuneCountInString(t.Text) {
		return
	}
	for _, o := range t.Marks {
		if s[0] < o.Span[1] && o.Span[0] < s[1] {
			return
		}
	}
	t.Marks = append(t.Marks, Mark{s, label})
}

func (m *marker) byID(id int) *hook.ShellCommand {
	for i := range m.facts.Shell.Commands {
		if c := &m.facts.Shell.Commands[i]; c.ID == id {
			return c
		}
	}
	return nil
}

// command marks the words of the command that a fact belongs to.
func (m *marker) command(u *Use) {
	c := m.byID(u.Command)
	if c == nil {
		return
	}
	attrs := u.Fields
	if e := u.Effect(m.facts); e != nil {
		attrs = maps.Clone(e.Attrs)
	}
	text := m.program(c, false)
	m.targets(c, text, u, attrs)
}

// program marks a command's program and what it is run through, and returns the
// text that its words stand in; -1 if there is none. One that wraps runs another
// that matters.
func (m *marker) program(c *hook.ShellCommand, wraps bool) int {
	first := firstSpan(c)
	if first == nil {
		return m.inside(c)
	}
	name := "program"
	if wraps {
		name = "wrapper"
	}
	if c.Program != nil && m.cut(0, *first) != *c.Program {
		name += " " + *c.Program
	}
	if c.Program == nil {
		name += " not known"
	}
	m.mark(0, *first, name)
	if c.Span != nil {
		for _, via := range c.Via {
			m.word(0, c.Span[0], first[0], via, "wrapper", 0)
		}
	}
	return 0
}

func firstSpan(c *hook.ShellCommand) *hook.Span {
	if len(c.Words) == 0 {
		return nil
	}
	return c.Words[0].Span
}

// inside finds the text in which a command stands that is not a word of the
// line. If that text is literally in the line, it is marked there.
func (m *marker) inside(c *hook.ShellCommand) int {
	if c.Program == nil {
		return -1
	}
	outer := m.outer(c)
	if outer != nil && outer.Words != nil && firstSpan(outer) != nil {
		m.program(outer, true)
	}
	inner, ok := m.innerText(c, outer)
	if !ok {
		all := utf8.RuneCountInString(m.texts[0].Text)
		for _, via := range c.Via {
			m.word(0, 0, all, via, "wrapper", 0)
		}
		if m.word(0, 0, all, *c.Program, "program", m.wordNo(c, 0)) {
			return 0
		}
		return -1
	}
	if from := m.literal(inner); from >= 0 {
		m.word(0, from, from+utf8.RuneCountInString(inner), *c.Program, "program", m.wordNo(c, 0))
		return 0
	}
	text := -1
	for i, t := range m.texts {
		if i > 0 && t.Text == inner {
			text = i
		}
	}
	if text < 0 {
		m.texts = append(m.texts, Text{Where: "what " + strings.Join(c.Via, ", ") + " runs", Text: inner})
		text = len(m.texts) - 1
	}
	m.word(text, 0, utf8.RuneCountInString(inner), *c.Program, "program", m.wordNo(c, 0))
	return text
}

// wordNo says how many earlier commands of the same text have the same program.
func (m *marker) wordNo(c *hook.ShellCommand, n int) int {
	for i := range m.facts.Shell.Commands {
		o := &m.facts.Shell.Commands[i]
		if o.ID < c.ID && o.Depth == c.Depth && firstSpan(o) == nil && o.Program != nil && *o.Program == *c.Program {
			n++
		}
	}
	return n
}

// outer finds the command that runs the text in which c stands: the last one
// before it that is less deep and is what c was run through.
func (m *marker) outer(c *hook.ShellCommand) *hook.ShellCommand {
	var found *hook.ShellCommand
	for i := range m.facts.Shell.Commands {
		o := &m.facts.Shell.Commands[i]
		if o.ID >= c.ID || o.Depth >= c.Depth || len(c.Via) == 0 {
			continue
		}
		if o.Program != nil && *o.Program == c.Via[len(c.Via)-1] || found == nil && o.Depth == c.Depth-1 {
			found = o
		}
	}
	return found
}

// innerText finds the text that holds a command: an argument or the input of
// the command that runs it, or, where that was put together before, a text of
// any other command.
func (m *marker) innerText(c, outer *hook.ShellCommand) (string, bool) {
	holds := func(s *string) bool { return s != nil && findWord([]rune(*s), *c.Program, 0, 0) >= 0 }
	var candidates []*string
	if outer != nil {
		for i := range outer.Words {
			if i > 0 {
				candidates = append(candidates, outer.Words[i].Value)
			}
		}
		if outer.Stdin != nil {
			candidates = append(candidates, outer.Stdin.Text)
		}
		for i := range m.facts.Code {
			if m.facts.Code[i].Command == outer.ID {
				candidates = append(candidates, m.facts.Code[i].Text)
			}
		}
	}
	for i := range m.facts.Shell.Commands {
		if o := &m.facts.Shell.Commands[i]; o.Depth < c.Depth || o.ID < c.ID {
			if o.Stdin != nil {
				candidates = append(candidates, o.Stdin.Text)
			}
			for j := range o.Words {
				if j > 0 && o.Words[j].Span != nil {
					candidates = append(candidates, o.Words[j].Value)
				}
			}
		}
	}
	for _, s := range candidates {
		if holds(s) {
			return strings.TrimRight(*s, "\n"), true
		}
	}
	if outer != nil {
		return m.script(outer, holds)
	}
	return "", false
}

// script reads the script that a command runs.
func (m *marker) script(outer *hook.ShellCommand, holds func(*string) bool) (string, bool) {
	for _, p := range m.facts.Paths {
		if m.read == nil || p.Command != outer.ID || p.Path == nil || p.Access != "execute" && p.Access != "read" {
			continue
		}
		if text, err := m.read(*p.Path); err == nil && holds(&text) {
			return strings.TrimRight(text, "\n"), true
		}
	}
	return "", false
}

// literal returns where a text stands in the line, -1 if it does not or more
// than once.
func (m *marker) literal(inner string) int {
	line := m.texts[0].Text
	i := strings.Index(line, inner)
	if i < 0 || strings.Contains(line[i+1:], inner) {
		return -1
	}
	return utf8.RuneCountInString(line[:i])
}

// word marks the n-th occurrence of a word between two positions of a text.
func (m *marker) word(text, from, to int, word, label string, n int) bool {
	runes := []rune(m.texts[text].Text)
	i := findWord(runes[:to], word, from, n)
	if i < 0 && n > 0 {
		i = findWord(runes[:to], word, from, 0)
	}
	if i >= 0 {
		m.mark(text, hook.Span{i, i + utf8.RuneCountInString(word)}, label)
	}
	return i >= 0
}

// findWord returns the position of the n-th occurrence of a word that stands
// alone, at or after from.
func findWord(text []rune, word string, from, n int) int {
	want := []rune(word)
	part := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-'
	}
	for i := from; len(want) > 0 && i+len(want) <= len(text); i++ {
		if !slices.Equal(text[i:i+len(want)], want) {
			continue
		}
		end := i + len(want)
		if i > 1 && text[i-2] == '\\' && (text[i-1] == 'n' || text[i-1] == 't') {
			if n--; n < 0 { // behind an escape, as in what printf gets
				return i
			}
			continue
		}
		if i > 0 && part(want[0]) && part(text[i-1]) || end < len(text) && part(want[len(want)-1]) && part(text[end]) {
			continue
		}
		if n--; n < 0 {
			return i
		}
	}
	return -1
}

// cut returns a part of a text.
func (m *marker) cut(text int, s hook.Span) string {
	runes := []rune(m.texts[text].Text)
	if s[0] < 0 || s[1] > len(runes) || s[0] > s[1] {
		return ""
	}
	return string(runes[s[0]:s[1]])
}
