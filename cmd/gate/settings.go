package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"gate/hook"
	"gate/strictjson"
)

// A claudeHook is one hook of gate's in Claude Code's settings.
type claudeHook struct {
	event   hook.Name
	command string
	timeout time.Duration
}

// group is the entry of the settings. onFailure makes the client block where
// gate cannot answer at all: killed, missing, too late (contract section 1).
func (h claudeHook) group() jsontext.Value {
	return strictjson.Append(nil, map[string]any{
		"matcher": "*",
		"hooks": []any{map[string]any{
			"type": "command", "command": h.command, "onFailure": "block",
			"timeout": json.Number(fmt.Sprintf("%g", h.timeout.Seconds())),
		}},
	})
}

// A member is one member of a JSON object, as written.
type member struct {
	name  string
	value jsontext.Value
}

// mergeSettings returns settings with ours in them, in place of hooks of gate
// that were there. Everything else stays as it is, in its order. Settings that
// are no strict JSON object are an error.
func mergeSettings(settings []byte, ours []claudeHook) ([]byte, error) {
	if len(bytes.TrimSpace(settings)) == 0 {
		settings = []byte("{}")
	}
	top, err := members(settings)
	if err != nil {
		return nil, err
	}
	var events []member
	if hooks := find(top, "hooks"); hooks != nil {
		if events, err = members(hooks.value); err != nil {
			return nil, fmt.Errorf("hooks: %w", err)
		}
	}
	same := true
	for _, h := range ours {
		m := find(events, string(h.event))
		if m == nil {
			events = append(events, member{string(h.event), jsontext.Value("[]")})
			m = &events[len(events)-1]
		}
		groups, err := h.merge(m.value)
		if err != nil {
			return nil, fmt.Errorf("hooks.%s: %w", h.event, err)
		}
		same = same && equalJSON(groups, m.value)
		m.value = groups
	}
	if same {
		return settings, nil
	}
	set(&top, "hooks", object(events))
	out := object(top)
	if err := out.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, err
	}
	return append(out, '\n'), nil
}

// merge puts the hook into the groups of its event, in the place of an older
// one of gate's or at the end.
func (h claudeHook) merge(groups jsontext.Value) (jsontext.Value, error) {
	list, err := elements(groups)
	if err != nil {
		return nil, err
	}
	kept := make([]jsontext.Value, 0, len(list)+1)
	placed := false
	for _, g := range list {
		rest, had, err := withoutOurs(g)
		if err != nil {
			return nil, err
		}
		if rest != nil {
			kept = append(kept, rest)
		}
		if had && !placed {
			kept = append(kept, h.group())
			placed = true
		}
	}
	if !placed {
		kept = append(kept, h.group())
	}
	return array(kept), nil
}

// withoutOurs returns a group less gate's own handlers, nil when nothing is
// left of it, and whether there were any.
func withoutOurs(group jsontext.Value) (rest jsontext.Value, had bool, err error) {
	parts, err := members(group)
	if err != nil {
		return nil, false, err
	}
	handlers := find(parts, "hooks")
	if handlers == nil {
		return group, false, nil
	}
	list, err := elements(handlers.value)
	if err != nil {
		return nil, false, err
	}
	var others []jsontext.Value
	for _, handler := range list {
		fields, err := members(handler)
		if err != nil {
			return nil, false, err
		}
		if command := find(fields, "command"); command != nil && isOurs(text(command.value)) {
			had = true
			continue
		}
		others = append(others, handler)
	}
	switch {
	case !had:
		return group, false, nil
	case len(others) == 0:
		return nil, true, nil
	}
	handlers.value = array(others)
	return object(parts), true, nil
}

// members takes an object apart. Duplicate names, invalid UTF-8 and anything
// after the object are errors.
func members(v jsontext.Value) ([]member, error) {
	d := jsontext.NewDecoder(bytes.NewReader(v))
	if d.PeekKind() != '{' {
		return nil, wrongKind(d, "an object")
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	var list []member
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		m := member{name: name.String()}
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		m.value = value.Clone()
		list = append(list, m)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	return list, atEnd(d)
}

// elements takes an array apart.
func elements(v jsontext.Value) ([]jsontext.Value, error) {
	d := jsontext.NewDecoder(bytes.NewReader(v))
	if d.PeekKind() != '[' {
		return nil, wrongKind(d, "an array")
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	var list []jsontext.Value
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		list = append(list, value.Clone())
	}
	_, err := d.ReadToken()
	return list, err
}

func wrongKind(d *jsontext.Decoder, want string) error {
	if _, err := d.ReadValue(); err != nil {
		return err
	}
	return fmt.Errorf("not %s", want)
}

func atEnd(d *jsontext.Decoder) error {
	if d.PeekKind() != 0 {
		return errors.New("there is more than one JSON value")
	}
	if _, err := d.ReadToken(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func find(list []member, name string) *member {
	for i := range list {
		if list[i].name == name {
			return &list[i]
		}
	}
	return nil
}

func set(list *[]member, name string, value jsontext.Value) {
	if m := find(*list, name); m != nil {
		m.value = value
		return
	}
	*list = append(*list, member{name, value})
}

func object(list []member) jsontext.Value {
	out := []byte{'{'}
	for i, m := range list {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := jsontext.AppendQuote(nil, m.name)
		if err != nil {
			name = strictjson.Append(nil, m.name)
		}
		out = append(append(append(out, name...), ':'), m.value...)
	}
	return append(out, '}')
}

func array(list []jsontext.Value) jsontext.Value {
	out := []byte{'['}
	for i, v := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// text is the value of a JSON string, "" of anything else.
func text(v jsontext.Value) string {
	s, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(s)
}

func equalJSON(a, b jsontext.Value) bool {
	a, b = a.Clone(), b.Clone()
	return a.Canonicalize() == nil && b.Canonicalize() == nil && bytes.Equal(a, b)
}
