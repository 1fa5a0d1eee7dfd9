package load

import (
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/backtracking"
	"gate/matcher"
)

// The fields that several systems have. Each takes one key in.

// named takes a text that is not empty into the handler's configuration.
func named(key string) field {
	return func(e *entry, v any, pointer string) {
		s, ok := v.(string)
		if !ok || s == "" {
			e.bad(pointer, "%s must be a non-empty text", dotted(pointer))
			return
		}
		e.Config[key] = s
	}
}

// handler takes the text that a kind of handler runs.
func handler(kind hook.Kind, key string) field {
	text := named(key)
	return func(e *entry, v any, pointer string) {
		e.becomes(kind, pointer)
		text(e, v, pointer)
	}
}

// becomes says what runs. A second word on that is a mistake.
func (e *entry) becomes(kind hook.Kind, pointer string) {
	if e.Kind != "" && e.Kind != kind {
		e.bad(pointer, "%s: the hook is a %s hook already", dotted(pointer), e.Kind)
		return
	}
	e.Kind = kind
}

// kinds takes the type of a handler.
func kinds(known map[string]hook.Kind) field {
	return func(e *entry, v any, pointer string) {
		s, _ := v.(string)
		kind, ok := known[s]
		if !ok {
			e.bad(pointer, "%s must be one of %s", dotted(pointer), strings.Join(sortedKeys(known), ", "))
			return
		}
		e.becomes(kind, pointer)
	}
}

// flag takes true or false.
func flag(set func(*entry, bool)) field {
	return func(e *entry, v any, pointer string) {
		b, ok := v.(bool)
		if !ok {
			e.bad(pointer, "%s must be true or false", dotted(pointer))
			return
		}
		set(e, b)
	}
}

// config takes true or false into the handler's configuration.
func config(key string) field { return flag(func(e *entry, b bool) { e.Config[key] = b }) }

// closes takes a flag that says what a fault does.
func closes(on, off hook.OnFault) field {
	return flag(func(e *entry, b bool) {
		if e.OnFault = off; b {
			e.OnFault = on
		}
	})
}

// input takes the arguments of an MCP tool.
func input(e *entry, v any, pointer string) {
	if v == nil {
		return // no arguments
	}
	if m := e.object(v, pointer); m != nil {
		e.Config["input"] = m
	}
}

// list takes a list of texts.
func list(key string) field {
	return func(e *entry, v any, pointer string) {
		all := e.dialectReader.list(v, pointer)
		for i, s := range all {
			if _, ok := s.(string); !ok {
				e.bad(element(pointer, i), "%s must be a text", dotted(element(pointer, i)))
			}
		}
		e.Config[key] = all
	}
}

// headers takes the headers of a request.
func headers(e *entry, v any, pointer string) {
	m := e.object(v, pointer)
	for name, value := range m {
		if _, ok := value.(string); !ok {
			e.bad(below(pointer, name), "%s must be a text", dotted(below(pointer, name)))
		}
	}
	e.Config["headers"] = m
}

func title(e *entry, v any, pointer string) {
	s, ok := v.(string)
	if !ok {
		e.bad(pointer, "%s must be a text", dotted(pointer))
	}
	e.Title = s
}

// event takes the name of the one event of a hook, in the system's own words.
func event(names map[string]hook.Name) field {
	return func(e *entry, v any, pointer string) {
		s, _ := v.(string)
		if name, ok := names[s]; ok {
			e.Events = []hook.Name{name}
			return
		}
		e.bad(pointer, "unknown event %q%s", s, didYouMean(s, "", sortedKeys(names)))
	}
}

// themselves are events that a system calls as gate does.
func themselves(names ...hook.Name) map[string]hook.Name {
	m := map[string]hook.Name{}
	for _, n := range names {
		m[string(n)] = n
	}
	return m
}

// matches takes a matcher in the system's own language. translate returns
// gate's form of it, and false if it stands for nothing.
func matches(translate func(string) (string, bool)) field {
	return func(e *entry, v any, pointer string) {
		s, ok := v.(string)
		if !ok {
			e.bad(pointer, "%s must be a text", dotted(pointer))
			return
		}
		gates, ever := translate(s)
		if _, err := matcher.Compile(gates, backtracking.Compile); err != nil {
			e.bad(pointer, "%w", err)
			return
		}
		if !ever {
			e.never = true
			e.note(pointer, "the hook is left out: %s %q matches nothing", dotted(pointer), s)
			return
		}
		e.Matcher = gates
	}
}

// aboutTool reports whether tools' names are what matchers of an event are
// matched on.
func aboutTool(n hook.Name) bool { return n.Moment().Matches == "tool_name" }

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
