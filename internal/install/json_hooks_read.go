package install

import (
	"bytes"
	"slices"
)

func (f jsonHooks) uninstall(t *table, path string, old []byte) ([]byte, error) {
	text := old
	for {
		d, err := f.parse(t, path, text)
		if err != nil {
			return nil, err
		}
		found := f.find(t, d)
		if len(found) == 0 {
			break
		}
		var gone bool
		if text, gone = found[len(found)-1].remove(d); gone {
			return left(d, text), nil
		}
	}
	for _, p := range slices.Backward(t.pins) {
		d, err := f.parse(t, path, text)
		if err != nil {
			return nil, err
		}
		chain, at := p.written(d)
		if chain == nil {
			continue
		}
		var gone bool
		if text, gone = d.remove(chain, at); gone {
			return left(d, text), nil
		}
	}
	return text, nil
}

// left decides what becomes of a text whose object came with gate.
func left(d *document, text []byte) []byte { return claude{}.left(d, text) }

// written finds a setting that gate wrote: the objects that it stands in, and its
// place in the last one. nil if it is not there, or was there before.
func (p pin) written(d *document) (chain []*node, at int) {
	n := d.root
	for i, name := range p.path {
		at = n.index(name)
		if at < 0 {
			return nil, 0
		}
		chain = append(chain, n)
		if i == len(p.path)-1 {
			break
		}
		n = n.items[at].value
	}
	it := n.items[at]
	gap := d.text[it.key.end:it.value.start]
	if !bytes.HasPrefix(gap, []byte(" :")) || string(d.text[it.value.start:it.value.end]) != p.value {
		return nil, 0
	}
	return chain, at
}

func (f jsonHooks) entries(t *table, m Machine, s Scope, path string, text []byte) ([]tableEntry, error) {
	d, err := f.parse(t, path, text)
	if err != nil {
		return nil, err
	}
	var out []tableEntry
	for _, x := range f.find(t, d) {
		e := tableEntry{event: string(x.event), words: x.words, line: d.line(x.handler), exact: t.equal(d, x, m, s)}
		e.sound = e.exact || flag(x.words, "event") == string(x.event) && t.equal(d, x, t.as(m, x.words), s)
		out = append(out, e)
	}
	return out, nil
}

// as is the machine for which a command line would have been written.
func (t *table) as(m Machine, words []string) Machine {
	m.Command = starts(words)
	m.UserDir, m.StateDir = flag(words, "user-dir"), flag(words, "state-dir")
	m.DirsNamed = true
	return m
}

func (jsonHooks) switched(t *table, text []byte) []switchedOff {
	d, err := parse(text)
	if err != nil {
		return nil
	}
	var out []switchedOff
	for _, x := range t.off {
		n := d.root.member(x.path...)
		list, _ := n.strings()
		if x.list && slices.Contains(list, x.value) || !x.list && n != nil && string(text[n.start:n.end]) == x.value {
			out = append(out, switchedOff{x, d.line(n)})
		}
	}
	return out
}
