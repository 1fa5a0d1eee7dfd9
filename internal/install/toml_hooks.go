package install

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// tomlHooks is a TOML file. gate's entries are one block at its end, and its
// settings are lines of their own that say so: what gate wrote is known by its
// marks alone, and the rest of the text is not touched.
type tomlHooks struct {
	list bool // one list of hooks, each with its event; else a list for each event, of groups with a list of handlers
}

const (
	tomlBegin = "# gate: begin\n"
	tomlEnd   = "# gate: end\n"
	tomlMark  = " # by gate install\n" // ends a line of gate's

	byteOrderMark = "\ufeff" // some editors begin a file with it, and readers pass over it
)

func (f tomlHooks) install(t *table, m Machine, s Scope, path string, old []byte) ([]byte, error) {
	base, err := f.uninstall(t, path, old)
	if err != nil {
		return nil, err
	}
	if rest, marked := bytes.CutPrefix(base, []byte(byteOrderMark)); marked {
		text, err := f.install(t, m, s, path, rest)
		return append([]byte(byteOrderMark), text...), err
	}
	before, err := readTOML(path, base)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, dotted := range []bool{false, true} { // as the file writes its own tables
		text, err := f.add(t, m, s, path, base, before, dotted)
		if err != nil {
			return nil, err
		}
		after, err := readTOML(path, text)
		if err == nil && includes(after, before) {
			return text, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, fmt.Errorf("%s: gate's entries do not fit the file; add them by hand, as gate install --dry-run shows them for an empty file (%w)", path, failed)
}

// add returns the text with gate's settings and entries, which may say what does
// not go with it.
func (f tomlHooks) add(t *table, m Machine, s Scope, path string, base []byte, before map[string]any, dotted bool) ([]byte, error) {
	text := bytes.Clone(base)
	if base != nil {
		text = append(text, '\n') // ends a last line that has no end, and is gate's own in any case
	}
	block := ""
	set := func(name []string, value string) {
		var rest string
		if dotted {
			name = []string{strings.Join(name, ".")}
		}
		text, rest = addTOML(text, name, value)
		block += rest
	}
	for _, p := range t.wanted(s) {
		if is, there := lookupTOML(before, p.path); there {
			if fmt.Sprint(is) != p.value {
				return nil, fmt.Errorf("%s: %s is %v: gate would not work with it; make it %s first", path, strings.Join(p.path, "."), is, p.value)
			}
			continue
		}
		set(p.path, p.value)
	}
	if s == Managed && !f.list {
		dir := []string{"hooks", "managed_dir"}
		if _, there := lookupTOML(before, dir); !there {
			dotted = false // the entries are below the table of that name
			set(dir, jsonText(filepath.Dir(first(m.Command))))
		}
	}
	for _, event := range t.events {
		block += f.entry(t, m, s, event)
	}
	return append(text, tomlBegin+block+tomlEnd...), nil
}

// addTOML adds a setting: at the top, or below the header of its table. Where
// there is no such header, what has to be said is returned.
func addTOML(text []byte, path []string, value string) ([]byte, string) {
	name := path[len(path)-1]
	setting := name + " = " + value + tomlMark
	if len(path) == 1 {
		return append([]byte(setting), text...), ""
	}
	header := "[" + strings.Join(path[:len(path)-1], ".") + "]"
	for at := 0; at < len(text); {
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			break
		}
		line, _, _ := strings.Cut(string(text[at:at+end]), "#")
		at += end + 1
		if strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "", `"`, "", "'", "").Replace(line) == header {
			return slices.Concat(text[:at], []byte(setting), text[at:]), ""
		}
	}
	return text, header + "\n" + name + " = " + value + "\n"
}

// entry renders gate's hook for an event.
func (f tomlHooks) entry(t *table, m Machine, s Scope, event string) string {
	command := jsonText(t.line(m, s, event))
	wait := int(t.seconds(event).Seconds())
	if f.list {
		return fmt.Sprintf("[[hooks]]\nevent = %q\nmatcher = %q\ncommand = %s\ntimeout = %d\n", event, t.matcher, command, wait)
	}
	return fmt.Sprintf("[[hooks.%s]]\nmatcher = %q\n[[hooks.%s.hooks]]\ntype = \"command\"\ncommand = %s\ntimeout = %d\n", event, t.matcher, event, command, wait)
}

func (f tomlHooks) uninstall(t *table, path string, old []byte) ([]byte, error) {
	if old == nil {
		return nil, nil
	}
	if _, err := readTOML(path, old); err != nil {
		return nil, err
	}
	if rest, marked := bytes.CutPrefix(old, []byte(byteOrderMark)); marked {
		text, err := f.uninstall(t, path, rest)
		return append([]byte(byteOrderMark), text...), err
	}
	text := []byte{}
	for line := range bytes.Lines(old) {
		if !bytes.HasSuffix(line, []byte(tomlMark)) {
			text = append(text, line...)
		}
	}
	begin := bytes.Index(text, []byte("\n"+tomlBegin))
	created := bytes.HasPrefix(text, []byte(tomlBegin))
	if created {
		begin = 0
	}
	if begin < 0 {
		return text, nil
	}
	end := bytes.Index(text[begin:], []byte(tomlEnd))
	if end < 0 {
		return nil, fmt.Errorf("%s: gate's entries begin and do not end; remove what lies behind %q by hand", path, strings.TrimSpace(tomlBegin))
	}
	text = append(text[:begin], text[begin+end+len(tomlEnd):]...)
	if created && len(text) == 0 {
		return nil, nil
	}
	return text, nil
}

func (f tomlHooks) entries(t *table, m Machine, s Scope, path string, text []byte) ([]tableEntry, error) {
	doc, err := readTOML(path, text)
	if err != nil {
		return nil, err
	}
	line := 0
	if before, _, ok := bytes.Cut(text, []byte(tomlBegin)); ok {
		line = 1 + bytes.Count(before, []byte("\n"))
	}
	var out []tableEntry
	add := func(event string, group, handler map[string]any) {
		command, _ := handler["command"].(string)
		words := lineWords(command)
		if !t.isGate(words) {
			return
		}
		equal := func(m Machine) bool {
			want := map[string]any{}
			_ = toml.Unmarshal([]byte(f.entry(t, m, s, event)), &want)
			hooks := want["hooks"]
			if by, ok := hooks.(map[string]any); ok {
				hooks = by[event]
			}
			list, _ := hooks.([]any)
			return len(list) == 1 && reflect.DeepEqual(list[0], any(group))
		}
		e := tableEntry{event: event, words: words, line: line, exact: equal(m)}
		e.sound = e.exact || flag(words, "event") == event && equal(t.as(m, words))
		out = append(out, e)
	}
	f.each(doc, add)
	return out, nil
}

// each visits every handler.
func (f tomlHooks) each(doc map[string]any, visit func(event string, group, handler map[string]any)) {
	if f.list {
		hooks, _ := doc["hooks"].([]any)
		for _, h := range hooks {
			if handler, ok := h.(map[string]any); ok {
				event, _ := handler["event"].(string)
				visit(event, handler, handler)
			}
		}
		return
	}
	events, _ := doc["hooks"].(map[string]any)
	for event, groups := range events {
		list, _ := groups.([]any)
		for _, g := range list {
			group, _ := g.(map[string]any)
			handlers, _ := group["hooks"].([]any)
			for _, h := range handlers {
				if handler, ok := h.(map[string]any); ok {
					visit(event, group, handler)
				}
			}
		}
	}
}

func (tomlHooks) switched(*table, []byte) []switchedOff { return nil }

func readTOML(path string, text []byte) (map[string]any, error) {
	doc := map[string]any{}
	err := toml.Unmarshal(bytes.TrimPrefix(text, []byte(byteOrderMark)), &doc)
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, column := at.Position()
		return nil, fmt.Errorf("%s:%d:%d: %w; correct the file first", path, line, column, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; correct the file first", path, err)
	}
	return doc, nil
}

func lookupTOML(doc map[string]any, path []string) (any, bool) {
	var v any = doc
	for _, name := range path {
		m, _ := v.(map[string]any)
		var ok bool
		if v, ok = m[name]; !ok {
			return nil, false
		}
	}
	return v, true
}

// includes reports whether everything that was there is there still.
func includes(after, before any) bool {
	switch was := before.(type) {
	case map[string]any:
		is, ok := after.(map[string]any)
		for k, v := range was {
			ok = ok && includes(is[k], v)
		}
		return ok
	case []any:
		is, ok := after.([]any)
		if !ok || len(is) < len(was) {
			return false
		}
		return slices.EqualFunc(is[:len(was)], was, func(a, b any) bool { return includes(a, b) })
	}
	return reflect.DeepEqual(after, before)
}
