package load

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/backtracking"
	"gate/internal/moment"
	"gate/internal/spelling"
	"gate/internal/strictjson"
	"gate/matcher"
	"gate/scopes"
)

// maxHandlerTimeout is the longest time-out of a handler.
const maxHandlerTimeout = 10 * time.Minute

// handlerKeys are the keys that only one type of handler has, the one that it
// cannot do without first.
var handlerKeys = map[hook.Kind][]string{
	hook.Command: {"command", "args", "env"},
	hook.Prompt:  {"prompt", "model", "transcript"},
	hook.Agent:   {"prompt", "model", "transcript"},
	hook.Webhook: {"url", "method", "headers", "env"},
	hook.MCPTool: {"tool", "server", "input"},
}

// dialectKeys are the keys that only handlers of another system's hooks have.
var dialectKeys = map[hook.Dialect][]string{
	moment.Claude:    {"status_message"},
	moment.Cocode:    {"pass_context", "parse_result", "status_message"},
	moment.MassGen:   {"python"},
	moment.CodeWhale: {"background"},
}

// lacking returns the keys that a kind of handler cannot do without and that
// its configuration does not have.
func lacking(kind hook.Kind, config map[string]any) (keys []string) {
	need := handlerKeys[kind]
	switch {
	case len(need) == 0, kind == hook.Command && config["python"] != nil:
		return nil
	case kind == hook.MCPTool:
		need = need[:2]
	default:
		need = need[:1]
	}
	for _, key := range need {
		if config[key] == nil {
			keys = append(keys, key)
		}
	}
	return keys
}

// hooks reads a list of hooks, or lists of hooks by event, in gate's own
// dialect. A hook without an id is named after its file, event and place.
func (d *document) hooks(src scopes.Source, v any, pointer string) ([]*hook.Hook, []error) {
	r := hookReader{document: d, src: src, ids: map[string]string{}}
	stem := strings.TrimSuffix(path.Base(d.file), path.Ext(d.file))
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			r.read(e, element(pointer, i), fmt.Sprintf("%s.%d", stem, i+1), nil)
		}
	case map[string]any:
		for _, name := range d.sorted(v, pointer) {
			at := below(pointer, name)
			names, err := events([]any{name})
			if err != nil {
				r.bad(at, "%w", err)
			}
			list, _ := v[name].([]any)
			for i, e := range list {
				r.read(e, element(at, i), fmt.Sprintf("%s.%s.%d", stem, name, i+1), map[string]any{"events": names})
			}
		}
	}
	return r.hooks, r.errs
}

// A hookReader collects the hooks of one document.
type hookReader struct {
	*document
	src   scopes.Source
	ids   map[string]string // positions by id
	hooks []*hook.Hook
	errs  []error
}

func (r *hookReader) bad(pointer, format string, args ...any) {
	r.errs = append(r.errs, r.errorf(pointer, format, args...))
}

// read reads one entry. A group, as other systems write it, gives what it says
// to each hook in it. What the schema has found already is passed over.
func (r *hookReader) read(v any, pointer, id string, outer map[string]any) {
	own, ok := v.(map[string]any)
	if !ok {
		return
	}
	if _, inherited := outer["events"]; inherited && own["events"] != nil {
		r.bad(below(pointer, "events"), "events: the hook stands under an event already")
	}
	m := maps.Clone(outer)
	if m == nil {
		m = map[string]any{}
	}
	maps.Copy(m, own)
	group, isGroup := own["hooks"]
	if !isGroup {
		r.one(m, pointer, id)
		return
	}
	delete(m, "hooks")
	for key := range own {
		if !slices.Contains([]string{"hooks", "events", "matcher", "if", "priority"}, key) {
			r.bad(below(pointer, key), "%s: belongs into each hook of the group", key)
		}
	}
	list, _ := group.([]any)
	for i, e := range list {
		at := element(below(pointer, "hooks"), i)
		if inner, _ := e.(map[string]any); inner["hooks"] != nil {
			r.bad(below(at, "hooks"), "hooks: a group in a group")
			continue
		}
		if inner, _ := e.(map[string]any); inner["matcher"] != nil && m["matcher"] != nil {
			r.bad(below(at, "matcher"), "matcher: its group has one already")
		}
		given := maps.Clone(m)
		r.read(e, at, fmt.Sprintf("%s.%d", id, i+1), given)
	}
}

// one reads one hook.
func (r *hookReader) one(m map[string]any, pointer, id string) {
	h := &hook.Hook{
		ID: id, Scope: r.src.Scope, Authority: r.src.Authority, Source: r.src.Name,
		File: r.file, Line: r.lines[pointer],
	}
	if s, ok := m["id"].(string); ok {
		h.ID = s
	}
	h.Title, _ = m["title"].(string)
	h.Description, _ = m["description"].(string)
	h.Matcher, _ = m["matcher"].(string)
	h.Once, _ = m["once"].(bool)
	h.Async, _ = m["async"].(bool)
	h.Consult, _ = m["consult"].(bool)
	if s, ok := m["dialect"].(string); ok && s != OwnDialect {
		h.Dialect = hook.Dialect(s)
	}
	if s, ok := m["on_fault"].(string); ok {
		h.OnFault = hook.OnFault(s)
	}
	if b, ok := m["recheck"].(bool); ok {
		h.Recheck = &b
	}
	if n, ok := m["priority"].(json.Number); ok {
		f, _ := n.Float64()
		h.Priority = int(max(min(f, maxPriority), -maxPriority))
	}
	r.when(h, m, pointer)
	r.what(h, m, pointer)
	if h.ID == "gate" || strings.HasPrefix(h.ID, "gate.") {
		r.bad(below(pointer, "id"), "id: names under gate. are the product's own")
	}
	if other := r.ids[h.ID]; other != "" {
		r.bad(pointer, "hook %q is also at %s", h.ID, other)
	}
	r.ids[h.ID] = r.pos(pointer)
	r.hooks = append(r.hooks, h)
}

// when reads the events and conditions. A hook that is only consulted needs no
// events; what it says of when it runs would never be looked at.
func (r *hookReader) when(h *hook.Hook, m map[string]any, pointer string) {
	if h.Consult {
		for _, key := range []string{"matcher", "if", "async"} {
			if m[key] != nil {
				r.bad(pointer, "%s: a hook with consult runs when a policy says so, and its answer is waited for", key)
			}
		}
	}
	switch v := m["events"].(type) {
	case nil:
		if !h.Consult {
			r.bad(pointer, "the hook names no events")
		}
	case []hook.Name: // from the key that it stands under
		h.Events = v
	default:
		var list []any
		for _, s := range strictjson.Texts(v) {
			list = append(list, s)
		}
		if list == nil {
			return
		}
		var err error
		if h.Events, err = events(list); err != nil {
			r.bad(below(pointer, "events"), "%w", err)
		}
	}
	if _, err := matcher.Compile(h.Matcher, backtracking.Compile); err != nil {
		r.bad(below(pointer, "matcher"), "%w", err)
	}
	for _, s := range strictjson.Texts(m["if"]) {
		h.If = append(h.If, s)
		if _, err := matcher.ParseCondition(s); err != nil {
			r.bad(below(pointer, "if"), "%w", err)
		}
	}
}

// what reads which handler runs, and checks that it is given what it needs and
// nothing that only another has.
func (r *hookReader) what(h *hook.Hook, m map[string]any, pointer string) {
	kind, err := kindOf(m)
	switch {
	case err != nil:
		r.bad(pointer, "%w", err)
		return
	case kind == "":
		return
	}
	h.Kind, h.Config = kind, map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		switch {
		case slices.Contains(handlerKeys[kind], key), slices.Contains(dialectKeys[h.Dialect], key):
			h.Config[key] = m[key]
		case ofAnother(key):
			r.bad(below(pointer, key), "%s: a %s hook has none", key, kind)
		case ofDialect(key):
			r.bad(below(pointer, key), "%s: a hook of dialect %s has none", key, cmp.Or(h.Dialect, OwnDialect))
		}
	}
	for _, key := range lacking(kind, h.Config) {
		r.bad(pointer, "the %s hook lacks %s", kind, key)
	}
	if kind != hook.Command && h.Async && m["consult"] == nil {
		r.bad(below(pointer, "async"), "async: the call waits for a %s hook; only a command can go on without it", kind)
	}
	if starts, _ := startsItself(h); starts {
		r.bad(pointer, "the hook starts gate, and gate would ask itself again; remove it")
	}
	r.remote(kind, m, pointer)
	if v, ok := m["timeout"]; ok {
		if h.Timeout, err = duration(v, maxHandlerTimeout); err != nil {
			r.bad(below(pointer, "timeout"), "timeout %w", err)
		}
	}
}

// kindOf returns the type that a hook names, or the one that its keys leave.
func kindOf(m map[string]any) (hook.Kind, error) {
	if s, ok := m["type"].(string); ok {
		if _, known := handlerKeys[hook.Kind(s)]; known {
			return hook.Kind(s), nil
		}
		return "", nil // the schema says which there are
	}
	var found []hook.Kind
	for _, kind := range []hook.Kind{hook.Command, hook.Prompt, hook.Webhook, hook.MCPTool} {
		if m[handlerKeys[kind][0]] != nil || kind == hook.Command && m["python"] != nil {
			found = append(found, kind)
		}
	}
	if len(found) == 0 && misspelt(m) {
		return "", nil // the schema names the key that was meant
	}
	if len(found) != 1 {
		return "", errors.New("say with type which handler runs: command, prompt, agent, webhook or mcp_tool")
	}
	return found[0], nil
}

// misspelt reports a key that is unknown and stands for the one that says which
// handler runs.
func misspelt(m map[string]any) bool {
	leading := []string{"type", "command", "prompt", "url", "server", "tool"}
	for key := range m {
		if !ofAnother(key) && (keyMeant(key, leading) != "" || spelling.Nearest(key, leading) != "") {
			return true
		}
	}
	return false
}

// ofDialect reports a key that belongs to some dialect.
func ofDialect(key string) bool {
	for _, keys := range dialectKeys {
		if slices.Contains(keys, key) {
			return true
		}
	}
	return false
}

// ofAnother reports a key that belongs to some type of handler.
func ofAnother(key string) bool {
	for _, keys := range handlerKeys {
		if slices.Contains(keys, key) {
			return true
		}
	}
	return false
}
