package audit

import (
	"maps"
	"slices"

	"gate/hook"
	"gate/internal/secret"
)

// A Masker takes secrets out of whatever is said about one call: what [secret.Redact]
// takes out of any text, what stands under a name that says what it is, and what
// the call itself gives away, such as the password in mysql -pX, wherever it
// comes again. Nothing is cut. It is safe for concurrent use.
type Masker struct{ known secrets }

// NewMasker returns the Masker of a call. Without facts in ev it knows less.
func NewMasker(ev *hook.Event) *Masker {
	m := &Masker{}
	m.known.ofCall(ev, ev.Facts)
	return m
}

// Text returns s without secrets.
func (m *Masker) Text(s string) string { return secret.Mask(s, m.known.in(s)) }

// Value returns a JSON tree without secrets. The tree itself is not changed.
func (m *Masker) Value(v any) any { return m.value(v, false) }

// Fields returns the fields of an event without secrets. Their own names are
// the agent's, such as session_id, and say nothing of a secret.
func (m *Masker) Fields(ev *hook.Event) map[string]any {
	out := make(map[string]any, len(ev.Fields))
	for key, v := range ev.Fields {
		out[key] = m.value(v, false)
	}
	return out
}

// value masks one value; promised says that its name promises a secret.
func (m *Masker) value(v any, promised bool) any {
	switch v := v.(type) {
	case string:
		if promised && !secret.Harmless(v) {
			return secret.Mark
		}
		return m.Text(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = m.value(e, promised)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			name := m.Text(key)
			for out[name] != nil { // two that are the same without their secrets
				name += "'"
			}
			out[name] = m.value(v[key], secret.Promises(key))
		}
		return out
	}
	return v
}
