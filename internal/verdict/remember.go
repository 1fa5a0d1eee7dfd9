package verdict

import (
	"errors"
	"fmt"
	"maps"
	"unicode/utf8"

	"gate/hook"
	"gate/internal/mark"
	"gate/internal/plan/value"
	"gate/internal/strictjson"
)

// remember reads a mark. Without a value it is true, and null takes it back.
func (r *Reader) remember(f fields) error {
	m := mark.Mark{Name: f.required("mark"), Value: "true"}
	life, v := f.text("for"), f.value("value")
	switch {
	case f.err != nil:
		return f.err
	case len(m.Name) > mark.MaxName:
		return fmt.Errorf("the name of a mark has %d bytes; %d are allowed", len(m.Name), mark.MaxName)
	case !utf8.ValidString(m.Name):
		return errors.New("the name of a mark is no valid UTF-8")
	case life != "" && life != mark.Session && life != mark.Round:
		return fmt.Errorf("for %q; it is %s or %s", life, mark.Session, mark.Round)
	case v != nil:
		text, err := kept(v)
		if err != nil {
			return fmt.Errorf("mark %q: %w", m.Name, err)
		}
		m.Value = text
	}
	m.Round = life == mark.Round
	for _, other := range r.verdict.Remember {
		switch {
		case other == m:
			return nil
		case other.Name == m.Name:
			return fmt.Errorf("mark %q has two values at once", m.Name)
		}
	}
	if len(r.verdict.Remember) >= mark.MaxAtOnce {
		return fmt.Errorf("more than %d marks at once", mark.MaxAtOnce)
	}
	r.verdict.Remember = append(r.verdict.Remember, m)
	return nil
}

// kept is a value as it is kept, which must be what is read again.
func kept(v value.Value) (string, error) {
	if value.Weight(v) > mark.MaxValue {
		return "", tooLarge()
	}
	text := strictjson.Append(nil, plain(v))
	if len(text) > mark.MaxValue {
		return "", tooLarge()
	}
	if _, err := strictjson.Decode(text, strictjson.Limits{Depth: maxDepth}); err != nil {
		return "", fmt.Errorf("the value cannot be kept: %w", err)
	}
	return string(text), nil
}

// maxDepth is how deep a value may be nested.
const maxDepth = 16

func tooLarge() error {
	return fmt.Errorf("the value is too large; %d bytes of JSON are allowed: remember a word, a number or a digest", mark.MaxValue)
}

// SeenBy returns an event as a hook sees it: its memory with the marks that are its
// source's to see. An event without a memory is the same for all, and so is one whose
// memory says which marks there are, as a test's does.
func SeenBy(h *hook.Hook, ev *hook.Event) *hook.Event {
	if _, given := ev.Memory["marks"]; given || len(ev.Memory) == 0 {
		return ev
	}
	values, full := ev.Marks.Seen(h.Source, h.Scope == hook.Policy)
	marks := make(map[string]any, len(values))
	for name, text := range values {
		if v, err := strictjson.Decode([]byte(text), strictjson.Limits{}); err == nil { // as it was when it was kept
			marks[name] = v
		}
	}
	seen := *ev
	seen.Memory = maps.Clone(ev.Memory)
	seen.Memory["marks"], seen.Memory["marks_full"] = marks, full
	return &seen
}
