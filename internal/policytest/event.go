package policytest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gate/adapters"
	"gate/hook"
)

// The world of an event unless its test says otherwise.
const (
	defaultHome    = "/home/dev"
	defaultProject = "/home/dev/project"
	defaultAgent   = "claude"
)

// defaultNow is input.gate.now of every event without a time of its own.
func defaultNow() time.Time { return time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC) }

// Event makes the event that gate.event(spec) stands for, and the world in
// which its facts are to be found. spec is a shell line, or an object with any
// of
//
//	bash     a shell line, short for tool Bash with input.command
//	event    hook_event_name; default PreToolUse
//	tool     tool_name
//	input    tool_input
//	cwd      default /home/dev/project
//	agent    default claude
//	env      the agent's environment, an object of strings
//	files    file contents by absolute path; what is not there does not exist
//	fields   further fields of the event, such as prompt or tool_response
//	gate     user, os, interactive, labels, now (RFC 3339)
//	session  input.session
//
// The user is dev, the home directory /home/dev, the system linux.
func Event(spec any) (*hook.Event, World, error) {
	if line, ok := spec.(string); ok {
		spec = map[string]any{"bash": line}
	}
	m, ok := spec.(map[string]any)
	if !ok {
		return nil, World{}, fmt.Errorf("want a shell line or an object")
	}
	r := specReader{spec: m}
	ev := r.event()
	w := World{
		Home: defaultHome, User: ev.Gate.User, OS: ev.Gate.OS, Project: defaultProject,
		env: r.texts("env"), files: files{},
	}
	for name, text := range r.texts("files") {
		w.files[name] = entry{text: text}
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(r.known, key) {
			r.fail("unknown key %q; it knows %s", key, strings.Join(r.known, ", "))
		}
	}
	return ev, w, r.err
}

// A specReader takes a spec apart. The first mistake stays in err.
type specReader struct {
	spec  map[string]any
	known []string
	err   error
}

func (r *specReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// value returns spec[key] if it has type T, missing if it is not there.
func value[T any](r *specReader, key string, missing T) T {
	r.known = append(r.known, key)
	v, ok := r.spec[key]
	if !ok {
		return missing
	}
	t, ok := v.(T)
	if !ok {
		r.fail("%s has the wrong type", key)
		return missing
	}
	return t
}

func (r *specReader) object(key string) map[string]any {
	return value[map[string]any](r, key, nil)
}

func (r *specReader) texts(key string) map[string]string {
	out := map[string]string{}
	for k, v := range r.object(key) {
		s, ok := v.(string)
		if !ok {
			r.fail("%s.%s is no string", key, k)
		}
		out[k] = s
	}
	return out
}

func (r *specReader) event() *hook.Event {
	fields := map[string]any{
		"session_id":      "00000000-0000-4000-8000-000000000000",
		"permission_mode": "default",
	}
	name := value(r, "event", string(hook.PreToolUse))
	fields["hook_event_name"] = name
	fields["cwd"] = value(r, "cwd", defaultProject)
	tool, input := value(r, "tool", ""), r.object("input")
	if line := value[any](r, "bash", nil); line != nil {
		if tool != "" || input != nil {
			r.fail("bash stands for tool and input; give one or the other")
		}
		tool, input = "Bash", map[string]any{"command": line}
	}
	if tool != "" {
		fields["tool_name"], fields["tool_input"] = tool, any(orEmpty(input))
		fields["tool_use_id"] = "toolu_test"
	} else if input != nil {
		r.fail("input without tool")
	}
	ev := &hook.Event{Agent: value(r, "agent", defaultAgent), Name: hook.Name(name), Fields: fields}
	maps.Copy(fields, r.object("fields"))
	ev.Memory = r.object("session")
	g := specReader{spec: r.object("gate")}
	ev.Gate = g.gate()
	for key := range g.spec {
		if !slices.Contains(g.known, key) {
			r.fail("unknown key gate.%s; it knows %s", key, strings.Join(g.known, ", "))
		}
	}
	if g.err != nil {
		r.fail("gate: %w", g.err)
	}
	ev.Parts = adapters.Parts(ev)
	return ev
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func (r *specReader) gate() hook.Gate {
	g := hook.Gate{
		Now: defaultNow(), User: value(r, "user", "dev"), OS: value(r, "os", "linux"),
		Interactive: value(r, "interactive", true), Labels: r.texts("labels"),
	}
	if text := value(r, "now", ""); text != "" {
		t, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			r.fail("now must be a time such as 2026-01-15T12:00:00Z, not %q", text)
		}
		g.Now = t
	}
	return g
}
