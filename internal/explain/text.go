package explain

import (
	"cmp"
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
		} else if e := u.Effect(m.facts); e != nil {
			m.wrapper(u, e)
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
		attrs = attrsOf(e)
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

// pathPart reports that a path goes on with a character, or that one stands
// before it, as in #!/bin/sh.
func pathPart(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-./~*!", r)
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
		if want[0] == '/' && (i > 0 && pathPart(text[i-1]) || len(want) == 1 && end < len(text) && pathPart(text[end])) {
			continue // a part of another path
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
