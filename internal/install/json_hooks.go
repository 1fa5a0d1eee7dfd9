package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gate/hook"
)

// jsonHooks is an object in a JSON file, with a list for each event.
type jsonHooks struct{}

func (t *table) container() string {
	if t.in == "" {
		return "hooks"
	}
	return t.in
}

// wanted are the pins of a scope.
func (t *table) wanted(s Scope) []pin {
	return slices.DeleteFunc(slices.Clone(t.pins), func(p pin) bool { return p.managed && s != Managed })
}

func (f jsonHooks) install(t *table, m Machine, s Scope, path string, old []byte) ([]byte, error) {
	text := old
	if old == nil {
		text = []byte{}
	}
	var err error
	for _, p := range t.wanted(s) {
		if text, err = f.pin(t, path, text, p); err != nil {
			return nil, err
		}
	}
	for _, event := range t.events {
		if text, err = f.put(t, m, s, path, text, event); err != nil {
			return nil, err
		}
	}
	if old == nil {
		text = append(text, '\n')
	}
	return text, nil
}

// pin sets one setting. What says something else is refused, because somebody
// meant it. A blank in front of the colon tells that gate wrote it.
func (f jsonHooks) pin(t *table, path string, text []byte, p pin) ([]byte, error) {
	d, err := f.parse(t, path, text)
	if err != nil {
		return nil, err
	}
	st, n, depth := d.style(), d.root, 0
	for ; depth < len(p.path) && n.member(p.path[depth]) != nil; depth++ {
		n = n.member(p.path[depth])
	}
	if depth == len(p.path) {
		if is := string(text[n.start:n.end]); is != p.value {
			return nil, fmt.Errorf("%s:%d: %s is %.40s: gate would not work with it; make it %s first", path, d.line(n), strings.Join(p.path, "."), is, p.value)
		}
		return text, nil
	}
	if n != nil && !n.is('{') {
		return nil, fmt.Errorf("%s:%d: %s is %s where an object is wanted; correct it first", path, d.line(n), strings.Join(p.path[:depth], "."), n.typeName())
	}
	member := func(string) string { return jsonText(p.path[len(p.path)-1]) + " :" + st.blank + p.value }
	for i := len(p.path) - 2; i >= depth; i-- {
		name, inner := p.path[i], member
		member = func(indent string) string { return jsonText(name) + ":" + st.blank + around(st, indent, '{', inner) }
	}
	if n == nil {
		return append(bytes.Clone(text), around(st, "", '{', member)...), nil
	}
	return d.insert(n, st, member), nil
}

// put returns the text with exactly one entry of gate's for the event.
func (f jsonHooks) put(t *table, m Machine, s Scope, path string, text []byte, event string) ([]byte, error) {
	d, err := f.parse(t, path, text)
	if err != nil {
		return nil, err
	}
	st := d.style()
	entry := func(string) string { return t.entry(m, s, event, st) }
	found := slices.DeleteFunc(f.find(t, d), func(x jsonEntry) bool { return x.event != hook.Name(event) })
	switch {
	case len(found) > 1 || len(found) == 1 && !found[0].alone():
		if len(found) == 1 && t.equal(d, found[0], m, s) {
			return text, nil
		}
		text, _ = found[len(found)-1].remove(d)
		return f.put(t, m, s, path, text, event)
	case len(found) == 1 && t.equal(d, found[0], m, s):
		return text, nil
	case len(found) == 1:
		return apply(text, splice{found[0].item.start, found[0].item.end, entry("")}), nil
	}
	return d.add(st, t.container(), event, entry), nil
}

// add returns the text with one more entry in the list of an event in a container.
// What of them is not there is made.
func (d *document) add(st style, container, event string, entry func(indent string) string) []byte {
	list := func(indent string) string { return jsonText(event) + ":" + st.blank + around(st, indent, '[', entry) }
	all := func(indent string) string {
		return jsonText(container) + ":" + st.blank + around(st, indent, '{', list)
	}
	hooks := d.root.member(container)
	switch {
	case d.root == nil:
		return append(bytes.Clone(d.text), around(st, "", '{', all)...)
	case hooks.member(event) != nil:
		return d.insert(hooks.member(event), st, entry)
	case hooks != nil:
		return d.insert(hooks, st, list)
	}
	return d.insert(d.root, st, all)
}

// entry renders gate's entry for an event on one line.
func (t *table) entry(m Machine, s Scope, event string, st style) string {
	return t.entryOf(t.line(m, s, event), m.OS, event, st)
}

// entryOf renders an entry that runs a command line.
func (t *table) entryOf(line, os, event string, st style) string {
	b := &lineWriter{blank: st.blank}
	b.open('{')
	if !t.flat {
		if t.matcher != "" {
			b.key("matcher").text(t.matcher)
		}
		b.key("hooks").open('[').open('{')
	}
	b.key("type").text("command")
	for _, x := range t.more {
		b.key(x.name).raw(x.value)
	}
	name, prefix := t.command, ""
	switch {
	case name == "":
		name = "command"
	case os == "windows":
		name, prefix = "powershell", "& "
	}
	b.key(name).text(prefix + line)
	if t.wait != "" {
		b.key(t.wait).raw(fmt.Sprint(int(t.seconds(event).Seconds()) * max(t.perSec, 1)))
	}
	if !t.flat {
		b.close('}').close(']')
	}
	return b.close('}').String()
}

// A jsonEntry is a handler in a JSON file.
type jsonEntry struct {
	event    hook.Name
	path     []*node // root, container, the event's list
	nth      int
	item     *node // of the list
	handlers *node // of the item; nil if the item is the handler
	at       int
	handler  *node
	words    []string // program and arguments
}

// alone reports whether the item holds nothing but this handler.
func (x jsonEntry) alone() bool { return x.handlers == nil || len(x.handlers.items) == 1 }

// remove returns the text without the entry.
func (x jsonEntry) remove(d *document) (text []byte, gone bool) {
	if x.alone() {
		return d.remove(x.path, x.nth)
	}
	return d.remove(append(slices.Clone(x.path), x.item, x.handlers), x.at)
}

// find returns gate's entries in the order of the text.
func (jsonHooks) find(t *table, d *document) []jsonEntry {
	var out []jsonEntry
	visitHandlers(d, t.container(), t.flat, func(x jsonEntry) { out = x.gate(t, out) })
	return out
}

// visitHandlers visits the handlers in a container of lists of events, in the order
// of the text. They are the lists' items, if that is flat, or stand in a list of each.
func visitHandlers(d *document, container string, flat bool, visit func(jsonEntry)) {
	hooks := d.root.member(container)
	if !hooks.is('{') {
		return
	}
	for _, event := range hooks.items {
		if !event.value.is('[') {
			continue
		}
		for nth, it := range event.value.items {
			x := jsonEntry{event: hook.Name(event.key.str), path: []*node{d.root, hooks, event.value}, nth: nth, item: it.value}
			if flat {
				x.handler = it.value
				visit(x)
				continue
			}
			if x.handlers = it.value.member("hooks"); !x.handlers.is('[') {
				continue
			}
			for at, h := range x.handlers.items {
				x.at, x.handler = at, h.value
				visit(x)
			}
		}
	}
}

// gate adds the entry if it is gate's.
func (x jsonEntry) gate(t *table, out []jsonEntry) []jsonEntry {
	for _, name := range []string{"command", "bash", "powershell"} {
		if words := lineWords(strings.TrimPrefix(x.handler.member(name).text(), "& ")); t.isGate(words) {
			x.words = words
			return append(out, x)
		}
	}
	return out
}

// equal reports whether an entry says what gate would write.
func (t *table) equal(d *document, x jsonEntry, m Machine, s Scope) bool {
	var is, want any
	return json.Unmarshal(d.text[x.item.start:x.item.end], &is) == nil &&
		json.Unmarshal([]byte(t.entry(m, s, string(x.event), style{})), &want) == nil && reflect.DeepEqual(is, want)
}

// parse reads a file and refuses what nothing can be merged into.
func (jsonHooks) parse(t *table, path string, text []byte) (*document, error) {
	return mergeable(path, text, t.container(), func(event string) bool { return slices.Contains(t.events, event) })
}

// mergeable reads a file in which hooks stand as lists of events in a container,
// and refuses one that the lists of some events cannot be added to.
func mergeable(path string, text []byte, container string, added func(event string) bool) (*document, error) {
	d, err := parse(text)
	if err != nil {
		e := err.(*syntaxError)
		return nil, fmt.Errorf("%s:%d:%d: %s; correct the file first", path, e.line, e.column, e.msg)
	}
	wrong := func(n *node, what, want string) error {
		return fmt.Errorf("%s:%d: %s is %s where %s is wanted; correct it first", path, d.line(n), what, n.typeName(), want)
	}
	if d.root == nil {
		return d, nil
	}
	if !d.root.is('{') {
		return nil, wrong(d.root, "the file", "an object")
	}
	hooks := d.root.member(container)
	if hooks == nil {
		return d, nil
	}
	if !hooks.is('{') {
		return nil, wrong(hooks, fmt.Sprintf("%q", container), "an object")
	}
	for _, it := range hooks.items {
		if added(it.key.str) && !it.value.is('[') {
			return nil, wrong(it.value, fmt.Sprintf("%q", it.key.str), "an array")
		}
	}
	return d, nil
}
