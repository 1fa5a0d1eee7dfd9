package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"gate/hook"
)

// targets marks what a command acts on: the path, host, branch or other word
// that an effect names.
func (m *marker) targets(c *hook.ShellCommand, text int, u *Use, attrs map[string]any) {
	if path, ok := attrs["path"]; ok {
		m.path(c, text, path, areaOf(attrs))
	}
	for _, field := range []string{"url", "host"} {
		if s, ok := attrs[field].(string); ok && s != "" {
			if m.anywhere(c, text, s, "host "+hostOf(attrs, s)) {
				break
			}
		}
	}
	for _, field := range slices.Sorted(maps.Keys(attrs)) {
		switch field {
		case "path", "resolved", "url", "host", "kind", "command", "area", "how", "access", "method":
			continue
		}
		_, read := u.Fields[field]
		for _, s := range stringsOf(attrs[field]) {
			if name, _, word := strings.Cut(field, "["); word && name == "words" {
				m.own(c, text, s, "word")
				continue
			}
			if read || field == "branches" || field == "remote" || field == "verb" {
				m.own(c, text, s, field+" "+s)
			}
		}
		if attrs[field] == true && read {
			m.option(c, field)
		}
		if name, isOption := strings.CutPrefix(field, "options."); isOption && u.Effect(m.facts) == nil {
			m.option(c, name)
		}
	}
}

// wrapper marks what an effect that belongs to no command names in the line: it
// comes from a program that runs another one, such as docker run, or from a
// substitution.
func (m *marker) wrapper(u *Use, e *hook.FactEffect) {
	end := utf8.RuneCountInString(m.texts[0].Text)
	attrs := attrsOf(e)
	for _, field := range []string{"url", "host", "tool"} {
		s, ok := attrs[field].(string)
		label := "program"
		if field != "tool" {
			label = "host " + hostOf(attrs, s)
		}
		if ok && m.word(0, 0, end, s, label, 0) {
			break
		}
	}
	for _, field := range readOf(u, attrs) {
		if slices.Contains([]string{"url", "host", "tool", "access"}, field) {
			continue
		}
		for _, s := range stringsOf(attrs[field]) {
			m.word(0, 0, end, s, field+" "+s, 0)
		}
		if attrs[field] == true {
			m.word(0, 0, end, "--"+field, "option "+field, 0)
		}
	}
}

// readOf lists the fields of an effect that a rule read, and those that hold
// lists: their elements are read one by one.
func readOf(u *Use, attrs map[string]any) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(attrs)), func(field string) bool {
		_, read := u.Fields[field]
		_, text := attrs[field].(string)
		return !read && (text || len(stringsOf(attrs[field])) == 0)
	})
}

// attrsOf are the fields of an effect's kind.
func attrsOf(e *hook.FactEffect) map[string]any {
	attrs := hook.Tree(e)
	delete(attrs, "kind")
	delete(attrs, "command")
	return attrs
}

func areaOf(attrs map[string]any) string {
	if area, ok := attrs["area"].(string); ok && area != "unknown" {
		return " (" + strings.ReplaceAll(area, "_", " ") + ")"
	}
	return ""
}

func hostOf(attrs map[string]any, otherwise string) string {
	if s, ok := attrs["host"].(string); ok {
		return s
	}
	return otherwise
}

func stringsOf(v any) []string {
	var out []string
	switch v := v.(type) {
	case string:
		out = append(out, v)
	case []any:
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
	case []string:
		out = v
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// path marks the word that a path comes from. One that is not known is marked
// by what is not known of it.
func (m *marker) path(c *hook.ShellCommand, text int, path any, area string) {
	want, known := path.(string)
	for i := range m.facts.Paths {
		p := &m.facts.Paths[i]
		if p.Command != c.ID || known != (p.Path != nil) || known && *p.Path != want {
			continue
		}
		label := "path " + want + area
		if p.Resolved != nil && p.Path != nil && *p.Resolved != *p.Path {
			label += ", a link to " + *p.Resolved
		}
		if !known {
			label = "path not known" + area
		}
		if m.wordOf(c, text, p.Raw, want, label) {
			m.shorten(label, want)
			return
		}
	}
	if known {
		return
	}
	for _, word := range []bool{false, true} { // what is said of a word in general comes last
		for _, n := range m.facts.Unknown {
			if n.Command == c.ID && n.Span != nil && (n.Kind == "word") == word {
				m.mark(0, *n.Span, n.Why)
			}
		}
	}
}

// shorten leaves a path out of a label that stands below that very path.
func (m *marker) shorten(label, path string) {
	for i := range m.texts {
		for j := range m.texts[i].Marks {
			if k := &m.texts[i].Marks[j]; k.Label == label && m.cut(i, k.Span) == path {
				k.Label = strings.Replace(label, " "+path, "", 1)
			}
		}
	}
}

// wordOf marks the word of a command with a value: as it is written, as it is
// known, or within the code that the command runs.
func (m *marker) wordOf(c *hook.ShellCommand, text int, raw, value, label string) bool {
	for _, r := range c.Redirects {
		if r.Span != nil && r.Target != nil && (*r.Target == raw || *r.Target == value) {
			m.mark(0, *r.Span, label)
			return true
		}
	}
	return m.argument(c, label, func(w *hook.Word) bool {
		return w.Value != nil && (*w.Value == raw || *w.Value == value) || raw != "" && m.cut(0, *w.Span) == raw
	}) || m.anywhere(c, text, raw, label)
}

// argument marks the first word of a command, behind its program, that is meant.
func (m *marker) argument(c *hook.ShellCommand, label string, meant func(*hook.Word) bool) bool {
	for i := 1; i < len(c.Words); i++ {
		if w := &c.Words[i]; w.Span != nil && meant(w) {
			m.mark(0, *w.Span, label)
			return true
		}
	}
	return false
}

// has returns what reports a word of one value.
func has(value string) func(*hook.Word) bool {
	return func(w *hook.Word) bool { return w.Value != nil && *w.Value == value }
}

// own marks a word of the command that has this very value.
func (m *marker) own(c *hook.ShellCommand, text int, value, label string) {
	if m.argument(c, label, has(value)) {
		return
	}
	if firstSpan(c) == nil && text >= 0 {
		m.word(text, 0, utf8.RuneCountInString(m.texts[text].Text), value, label, 0)
	}
}

// option marks the long option of a name.
func (m *marker) option(c *hook.ShellCommand, name string) {
	for _, w := range c.Words {
		if w.Span == nil || w.Value == nil {
			continue
		}
		v := *w.Value
		_, given := c.Options[name]
		short := given && plainCluster(v) && !strings.HasPrefix(v, "--") && strings.ContainsAny(v[1:], name[:1]+strings.ToUpper(name[:1]))
		if short || v == "--"+name || strings.HasPrefix(v, "--"+name+"=") || v == "-"+name || strings.HasPrefix(v, "-"+name+"=") {
			m.mark(0, *w.Span, "option "+name)
		}
	}
}

// anywhere marks a text in the words of a command, else in the code that it
// runs, else in the words of the commands that it reads from.
func (m *marker) anywhere(c *hook.ShellCommand, text int, part, label string) bool {
	if part == "" {
		return false
	}
	if text >= 0 && (text > 0 || firstSpan(c) == nil) {
		for _, spelt := range m.spellings(part) {
			end := utf8.RuneCountInString(m.texts[text].Text)
			if m.word(text, m.programAt(text), end, spelt, label, 0) || m.word(text, 0, end, spelt, label, 0) {
				return true
			}
		}
	}
	if o := m.outer(c); o != nil && len(c.Words) > 0 && c.Span != nil && o.Span != nil && o.Span[1] >= c.Span[1] {
		if m.argument(o, label, has(part)) {
			return true
		}
	}
	for at, n := c, 0; at != nil && n < len(m.facts.Shell.Commands); n++ {
		if m.argument(at, label, func(w *hook.Word) bool { return w.Value != nil && strings.Contains(*w.Value, part) }) {
			return true
		}
		if at.Stdin == nil || at.Stdin.Command == 0 {
			break
		}
		at = m.byID(at.Stdin.Command)
	}
	for i := range m.facts.Code {
		code := &m.facts.Code[i]
		if code.Command != c.ID || code.Text == nil || !strings.Contains(*code.Text, part) {
			continue
		}
		to, at := 0, strings.TrimRight(*code.Text, "\n")
		from := m.literal(at)
		if from < 0 {
			m.texts = append(m.texts, Text{Where: fmt.Sprintf("the %s code (%s)", code.Language, code.Source), Text: at})
			to, from = len(m.texts)-1, 0
		}
		return m.word(to, from, from+utf8.RuneCountInString(at), part, label, 0)
	}
	return false
}

// programAt returns where a program was marked in a text: what it acts on
// mostly stands behind it.
func (m *marker) programAt(text int) int {
	at := 0
	for _, o := range m.texts[text].Marks {
		if strings.HasPrefix(o.Label, "program") {
			at = max(at, o.Span[0])
		}
	}
	return at
}

// spellings are the ways in which a path may be written in a text.
func (m *marker) spellings(part string) []string {
	list := []string{part}
	if rest, ok := strings.CutPrefix(part, m.home); ok && m.home != "" && (rest == "" || rest[0] == '/') {
		list = append(list, "~"+rest, "$HOME"+rest, "${HOME}"+rest)
	}
	return list
}

// fields shows the fields of another tool's input that facts come from.
func (m *marker) fields(used []Use) []Text {
	var list []Text
	input := m.ev.ToolInput()
	for i := range used {
		u := &used[i]
		values := map[string]string{}
		if e := u.Effect(m.facts); e != nil {
			attrs := attrsOf(e)
			for _, f := range []string{"path", "url", "host"} {
				if s, ok := attrs[f].(string); ok {
					values[s] = f + areaOf(attrs)
				}
			}
			for _, field := range readOf(u, attrs) {
				for _, s := range stringsOf(attrs[field]) {
					if values[s] == "" {
						values[s] = field
					}
				}
			}
			for _, p := range m.facts.Paths {
				if p.Path != nil && values[*p.Path] != "" {
					values[p.Raw] = values[*p.Path]
				}
			}
		} else if s, ok := u.Fields[""].(string); ok && strings.HasPrefix(u.Path, "tool_input.") {
			values[s] = "read by the rule"
		}
		for _, name := range slices.Sorted(maps.Keys(input)) {
			s, ok := input[name].(string)
			if !ok || values[s] == "" || slices.ContainsFunc(list, func(t Text) bool { return t.Where == name }) {
				continue
			}
			list = append(list, Text{Where: name, Text: s, Marks: []Mark{{hook.Span{0, utf8.RuneCountInString(s)}, values[s]}}})
		}
	}
	return list
}
