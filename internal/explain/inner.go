package explain

import (
	"strings"
	"unicode/utf8"

	"gate/hook"
)

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
