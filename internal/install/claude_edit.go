package install

import (
	"path/filepath"
	"slices"
)

// merge brings gate's entries in a text up to date, one edit at a time.
func (c claude) merge(m Machine, s Scope, path string, old []byte, events []claudeEvent) ([]byte, error) {
	text := old
	if old == nil {
		text = []byte{}
	}
	d, err := c.parse(path, text)
	if err != nil {
		return nil, err
	}
	for _, e := range c.kept(d, events) {
		d, err := c.parse(path, text)
		if err != nil {
			return nil, err
		}
		if text, err = c.put(m, s, path, d, e); err != nil {
			return nil, err
		}
	}
	if old == nil {
		text = append(text, '\n')
	}
	return text, nil
}

// kept adds the extra events that gate is registered for already.
func (c claude) kept(d *document, events []claudeEvent) []claudeEvent {
	for _, x := range c.entries(d) {
		if e, ok := claudeEventOf(x.event); ok && e.extra() && !slices.Contains(events, e) {
			events = append(events, e)
		}
	}
	return events
}

// put returns d's text with exactly one entry of gate for the event.
func (c claude) put(m Machine, s Scope, path string, d *document, e claudeEvent) ([]byte, error) {
	st := d.style()
	group := func(string) string { return c.group(m, s, e, st) }
	found := slices.DeleteFunc(c.entries(d), func(x claudeEntry) bool { return x.event != e.name })
	want := c.line(m, s, e.name)
	current := func(x claudeEntry) bool { return x.current(d, want, e) }
	switch keep := max(slices.IndexFunc(found, current), 0); {
	case len(found) > 1:
		return c.without(m, s, path, d, e, found[(keep+1)%len(found)])
	case len(found) == 0:
	case current(found[0]):
		return d.text, nil
	case found[0].alone():
		return apply(d.text, splice{found[0].item.start, found[0].item.end, group("")}), nil
	default:
		return c.without(m, s, path, d, e, found[0])
	}
	return d.add(st, "hooks", string(e.name), group), nil
}

// without takes an entry of gate away first.
func (c claude) without(m Machine, s Scope, path string, d *document, e claudeEvent, entry claudeEntry) ([]byte, error) {
	text, _ := entry.remove(d)
	d, err := c.parse(path, text)
	if err != nil {
		return nil, err
	}
	return c.put(m, s, path, d, e)
}

// around renders a new container with one item.
func around(st style, indent string, bracket byte, item func(indent string) string) string {
	inner := indent + st.indent
	return string(bracket) + st.newline + inner + item(inner) + st.newline + indent + string(bracket+2)
}

// parse reads settings and refuses what nothing can be merged into.
func (claude) parse(path string, text []byte) (*document, error) {
	return mergeable(path, text, "hooks", func(string) bool { return true })
}

func (c claude) voids(s Scope, path string, text []byte) []Finding {
	v := &claudeView{scope: s, path: path, exists: true}
	c.readView(v, text)
	for i := range v.findings {
		v.findings[i].Agent = c.name()
	}
	return v.findings
}

func (c claude) uninstall(_ Machine, s Scope, path string, old []byte) ([]byte, error) {
	if s == Managed && filepath.Base(path) == claudeOwn && c.ownsAll(old) {
		return nil, nil
	}
	text := old
	for {
		d, err := c.parse(path, text)
		if err != nil {
			return nil, err
		}
		found := c.entries(d)
		if len(found) == 0 {
			return text, nil
		}
		var gone bool
		text, gone = found[len(found)-1].remove(d)
		if gone {
			return c.left(d, text), nil
		}
	}
}

// left decides what becomes of a text whose object came with gate: the file is
// gone if it did, too, which its line end tells.
func (claude) left(d *document, text []byte) []byte {
	if d.root.start == 0 && string(text) == "\n" {
		return nil
	}
	return text
}
