package verdict

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"gate/hook"
	"gate/internal/mark"
	"gate/internal/plan/value"
	"gate/internal/strictjson"
)

// Lives returns how long a mark may live, as a policy says it: the first without a word.
func Lives() [2]string { return [2]string{"session", "round"} }

// remember reads a mark. Without a value it is true, and null takes it back.
func (r *Reader) remember(f fields) error {
	m := mark.Mark{Name: f.required("mark"), Value: "true"}
	life, v := f.text("for"), f.value("value")
	switch lives := Lives(); {
	case f.err != nil:
		return f.err
	case len(m.Name) > mark.MaxName:
		return fmt.Errorf("the name of a mark has %d bytes; %d are allowed", len(m.Name), mark.MaxName)
	case !utf8.ValidString(m.Name):
		return errors.New("the name of a mark is no valid UTF-8")
	case life != "" && !slices.Contains(lives[:], life):
		return fmt.Errorf("for %q; it is %s or %s", life, lives[0], lives[1])
	case v != nil:
		text, err := kept(v)
		if err != nil {
			return fmt.Errorf("mark %q: %w", m.Name, err)
		}
		m.Value = text
	}
	m.Round = life == Lives()[1]
	for _, other := range r.verdict.Remember {
		switch {
		case other == m:
			return nil
		case other.Name == m.Name:
			return fmt.Errorf("mark %q has two values at once", m.Name)
		}
	}
	r.verdict.Remember = append(r.verdict.Remember, m)
	return nil
}

// kept is a value as it is kept, which must be what is read again.
func kept(v value.Value) (string, error) {
	if value.Weight(v) > mark.MaxValue {
		return "", errLarge
	}
	text := strictjson.Append(nil, plain(v))
	if len(text) > mark.MaxValue {
		return "", errLarge
	}
	if _, err := strictjson.Decode(text, strictjson.Limits{LookAlikes: true}); err != nil {
		return "", fmt.Errorf("the value cannot be kept: %w", err)
	}
	return string(text), nil
}

var errLarge = fmt.Errorf("the value is too large; %d bytes of JSON are allowed: remember a word, a number or a digest", mark.MaxValue)

// SeenBy returns an event as a hook sees it: with the marks that are its source's to
// see. Without marks of anybody it is the event.
func SeenBy(h *hook.Hook, ev *hook.Event) *hook.Event {
	if len(ev.Marks.All)+len(ev.Marks.Full) == 0 {
		return ev
	}
	values, full := ev.Marks.Seen(h.Source, h.Scope == hook.Policy)
	marks := make(map[string]any, len(values))
	for name, text := range values {
		if v, err := strictjson.Decode([]byte(text), strictjson.Limits{LookAlikes: true}); err == nil { // as it was when it was kept
			marks[name] = v
		}
	}
	seen := *ev
	seen.Memory = maps.Clone(ev.Memory)
	if seen.Memory == nil {
		seen.Memory = map[string]any{}
	}
	seen.Memory["marks"], seen.Memory["marks_full"] = marks, full
	return &seen
}
