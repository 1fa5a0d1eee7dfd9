package load

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/hook"
	"gate/internal/backtracking"
	"gate/internal/moment"
	"gate/matcher"
)

// maxTimeout is the longest time-out of one policy. The default is the
// evaluator's.
const maxTimeout = 30 * time.Second

// maxPriority keeps priorities to numbers that people can tell apart.
const maxPriority = 1_000_000

var (
	metadataKeys = []string{"events", "matcher", "if", "priority", "params", "when_set", "opaque", "on_fault", "timeout", "schema", "serves"}
	paramKeys    = []string{"type", "default", "values", "description"}
	paramTypes   = []string{"string", "number", "boolean", "array", "object"}
)

// A section is a METADATA block: custom.gate and where it stands.
type section struct {
	file  string
	first int      // line of its first comment
	lines []string // of the comment
	keys  map[string]any
}

func newSection(m module, a *ast.Annotations) section {
	s := section{file: m.name, first: 1}
	if a.Location == nil {
		return s
	}
	s.first = a.Location.Row
	all := strings.Split(m.text, "\n")
	for i := s.first - 1; i < len(all) && strings.HasPrefix(strings.TrimSpace(all[i]), "#"); i++ {
		s.lines = append(s.lines, all[i])
	}
	return s
}

// pos returns file:line of a key.
func (s section) pos(key string) string { return fmt.Sprintf("%s:%d", s.file, s.line(key)) }

// line returns the line that a key begins, else one that it stands in, else
// that of gate, else the first of the block.
func (s section) line(key string) int {
	for i, line := range s.lines {
		name, _, found := strings.Cut(strings.TrimLeft(line, "#- \t"), ":")
		if found && strings.Trim(name, `"' `) == key {
			return s.first + i
		}
	}
	for i, line := range s.lines {
		if strings.Contains(line, key+":") {
			return s.first + i
		}
	}
	if key != "gate" {
		return s.line("gate")
	}
	return s.first
}

// posBelow returns file:line of what lies below a key, by a JSON pointer: each of its
// keys stands behind the one before.
func (s section) posBelow(key, pointer string) string {
	line := s.line(key)
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		for i := max(line-s.first, 0); i < len(s.lines) && part != ""; i++ {
			if regexp.MustCompile(`(^|[\s{,"'])` + regexp.QuoteMeta(part) + `["']?:`).MatchString(s.lines[i]) {
				line = s.first + i
				break
			}
		}
	}
	return fmt.Sprintf("%s:%d", s.file, line)
}

// custom fills h in from custom.gate.
func (l *loader) custom(h *hook.Hook, s section) {
	if _, ok := s.keys["events"]; !ok {
		l.fault("%s: custom.gate without events", s.pos("gate"))
	}
	inOrder := func(a, b string) int { return cmp.Or(cmp.Compare(s.line(a), s.line(b)), cmp.Compare(a, b)) }
	for _, key := range slices.SortedFunc(maps.Keys(s.keys), inOrder) {
		if err := l.key(h, s, key, s.keys[key]); err != nil {
			l.fault("%s: %w", s.pos(key), err)
		}
	}
	l.schemaPlace(h, s)
}

// schemaPlace reports a schema that would be held against the inputs of tools that it
// was not written for, or against none.
func (l *loader) schemaPlace(h *hook.Hook, s section) {
	if _, ok := s.keys["schema"]; !ok {
		return
	}
	if h.Matcher == "" || h.Matcher == "*" {
		l.fault("%s: schema without a matcher; name the tool whose input it is for", s.pos("schema"))
	}
	for _, name := range h.Events {
		if name.Rewrites() != "tool_input" {
			l.fault("%s: schema, but on %s no tool is about to run", s.pos("schema"), name)
		}
	}
}

func (l *loader) key(h *hook.Hook, s section, key string, value any) (err error) {
	switch key {
	case "events":
		h.Events, err = events(value)
	case "matcher":
		if h.Matcher, err = text(key, value); err == nil {
			_, err = matcher.Compile(h.Matcher, backtracking.Compile)
		}
	case "if":
		h.If, err = conditions(value)
	case "priority":
		h.Priority, err = priority(value)
	case "params":
		l.params(h, s, value)
	case "when_set":
		h.WhenSet, err = whenSet(s, value)
	case "opaque":
		if h.Opaque, err = boolean(key, value); err == nil && h.Opaque && !h.Authority.MayAllow() {
			err = fmt.Errorf("opaque is for policies that may allow; those of %s authority may not", h.Authority)
		}
	case "on_fault":
		h.OnFault, err = onFault(value)
	case "schema":
		var schema map[string]any
		if schema, err = l.inputSchema(s, value); schema != nil {
			h.Config = map[string]any{"schema": schema}
		}
	case "timeout":
		h.Timeout, err = timeout(value)
	case "serves":
		h.Serves, err = serves(value)
	default:
		err = fmt.Errorf("unknown key custom.gate.%s%s", key, didYouMean(key, "", metadataKeys))
	}
	return err
}

func events(value any) ([]hook.Name, error) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("events must be a list with at least one event, such as [PreToolUse]")
	}
	var names []hook.Name
	for _, e := range list {
		s, ok := e.(string)
		if !ok || s == "" || strings.TrimSpace(s) != s {
			return nil, fmt.Errorf("events: %v is not the name of an event", e)
		}
		name := hook.Name(s).Canonical()
		if meant := eventMeant(name); meant != "" {
			return nil, fmt.Errorf("unknown event %q; did you mean %q?", s, meant)
		}
		if slices.Contains(names, name) {
			return nil, fmt.Errorf("event %q is listed twice", s)
		}
		names = append(names, name)
	}
	return names, nil
}

// eventMeant returns the event of which an unknown name is a slip, "" if there is
// none: agents send events that gate has never heard of.
func eventMeant(n hook.Name) hook.Name {
	if meant := n.Meant(); meant != "" || n.Moment().Name != "" {
		return meant
	}
	for _, m := range moment.Every() {
		for _, known := range []hook.Name{m.Name, m.Alias} {
			if known != "" && near(string(n), string(known)) {
				return m.Name
			}
		}
	}
	return ""
}

func conditions(value any) ([]string, error) {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("if must not be empty; leave it out")
	}
	var out []string
	for _, e := range list {
		s, err := text("if", e)
		if err != nil {
			return nil, err
		}
		if _, err := matcher.ParseCondition(s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// whenSet reads the names of parameters that the policy declares.
func whenSet(s section, value any) ([]string, error) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("when_set must be a list of parameters")
	}
	params, _ := s.keys["params"].(map[string]any)
	var out []string
	for _, e := range list {
		name, _ := e.(string)
		if _, declared := params[name]; !declared {
			return nil, fmt.Errorf("when_set: %v is no parameter of the policy%s", e, didYouMean(name, "", slices.Sorted(maps.Keys(params))))
		}
		out = append(out, name)
	}
	return out, nil
}

func priority(value any) (int, error) {
	n, ok := value.(int)
	if !ok || n < -maxPriority || n > maxPriority {
		return 0, fmt.Errorf("priority must be a whole number from %d to %d", -maxPriority, maxPriority)
	}
	return n, nil
}

func onFault(value any) (hook.OnFault, error) {
	s, _ := value.(string)
	switch f := hook.OnFault(s); f {
	case hook.FaultDeny, hook.FaultAsk, hook.FaultContinue:
		return f, nil
	}
	return "", fmt.Errorf("on_fault must be deny, ask or continue")
}

func timeout(value any) (time.Duration, error) {
	d := time.Duration(0)
	switch v := value.(type) {
	case string:
		d, _ = time.ParseDuration(v)
	case int:
		d = time.Duration(min(max(v, 0), int(maxTimeout/time.Second)+1)) * time.Second
	}
	if d <= 0 || d > maxTimeout {
		return 0, fmt.Errorf("timeout must be a time up to %s, such as 500ms or 2s", maxTimeout)
	}
	return d, nil
}

func text(key string, value any) (string, error) {
	s, ok := value.(string)
	if !ok {
		return "", fmt.Errorf("%s must be a string", key)
	}
	return s, nil
}

func boolean(key string, value any) (bool, error) {
	b, ok := value.(bool)
	if !ok {
		return false, fmt.Errorf("%s must be true or false", key)
	}
	return b, nil
}
