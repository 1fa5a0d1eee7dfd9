package story

import (
	"strings"
	"unicode/utf8"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/explain"
)

// Marked returns what a decision was about, and marks its words by which links come to it
// and lead on.
func Marked(r *audit.Record, links []Link) explain.Text {
	if r.Kept == nil {
		return explain.Text{Text: r.Call}
	}
	m := marker{record: r, facts: Facts(r), text: explain.Text{Text: line(r)}}
	if m.text.Text == "" || m.facts == nil || m.facts.Shell == nil {
		m.text.Text = r.Call
		m.facts = nil
	}
	for i := range links {
		l := &links[i]
		switch {
		case same(l.To, r) && l.Path != "":
			m.mark(l.Path, "write", comes(l))
		case l.From != nil && same(l.From, r) && l.Path != "":
			for _, s := range Of(m.facts).Secrets {
				if l.Origin == secretOrigin && s.Path != l.Path {
					m.mark(s.Path, "write", "reads "+s.What)
				}
			}
			m.mark(l.Path, "read", "writes it")
		}
	}
	return m.text
}

func comes(l *Link) string {
	switch {
	case l.What != "":
		return l.What
	case l.Origin == writtenOrigin:
		return "written before"
	}
	return l.Origin
}

// A marker marks words of a shell line, or all of another call.
type marker struct {
	record *audit.Record
	facts  *hook.Facts
	text   explain.Text
}

// mark labels the words that name a file, unless they have access of a kind to it.
func (m *marker) mark(path, unless, label string) {
	if path == "" {
		return
	}
	if m.facts == nil {
		if strings.Contains(m.text.Text, path) || strings.HasSuffix(path, "/"+m.text.Text) {
			m.label(hook.Span{0, utf8.RuneCountInString(m.text.Text)}, label)
		}
		return
	}
	for i := range m.facts.Paths {
		p := &m.facts.Paths[i]
		if t := target(p); p.Access != unless && (t != nil && *t == path || p.Path != nil && *p.Path == path) {
			if span, found := m.word(p); found {
				m.label(span, label)
			}
		}
	}
}

// word finds where a path stands in the line.
func (m *marker) word(p *hook.Path) (hook.Span, bool) {
	for i := range m.facts.Shell.Commands {
		c := &m.facts.Shell.Commands[i]
		if c.ID != p.Command {
			continue
		}
		for _, w := range c.Words {
			if w.Span != nil && w.Value != nil && p.Raw != "" && strings.HasSuffix(*w.Value, p.Raw) {
				return *w.Span, true
			}
		}
		for _, r := range c.Redirects {
			if r.Span != nil && r.Target != nil && *r.Target == p.Raw {
				return *r.Span, true
			}
		}
	}
	return hook.Span{}, false
}

// label adds a mark, once for each part of the text.
func (m *marker) label(span hook.Span, label string) {
	for i := range m.text.Marks {
		if o := &m.text.Marks[i]; o.Span[0] < span[1] && span[0] < o.Span[1] {
			if o.Span == span && !strings.HasSuffix(label, o.Label) && !strings.Contains(o.Label, label) {
				o.Label += ", " + label
			}
			return
		}
	}
	m.text.Marks = append(m.text.Marks, explain.Mark{Span: span, Label: label})
}
