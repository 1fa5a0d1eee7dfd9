package load

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"gate/hook"
	"gate/internal/moment"
)

// massgenDialect is that of MassGen (seeds 001 and 004): YAML with hooks for
// all agents and for each. The rest of the file is MassGen's own.
var massgenDialect = dialect{name: moment.MassGen, hook: massgenHook, read: readMassgen, timeout: func(*hook.Hook) time.Duration { return 30 * time.Second }}

var massgenEvents = themselves(hook.PreToolUse, hook.PostToolUse)

var massgenHook = fields{
	"handler":     named("handler"),
	"callable":    handler(hook.Command, "python"),
	"matcher":     matches(massgenMatcher),
	"timeout":     seconds(true),
	"fail_closed": flag(zephClosed),
	"override":    func(*entry, any, string) {}, // of all hooks of the agent and event: massgenOverride
	"type":        func(*entry, any, string) {}, // an event in a list, else how the handler is called: massgenHook
}

var callable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$`) })

// A massgenAgent is whose hooks are read; nil stands for all agents.
type massgenAgent struct {
	id       string
	override []hook.Name // the events for which it has its own hooks only
}

func readMassgen(r *dialectReader) {
	r.others("", r.value, "hooks", "agents", "agent")
	global, isGlobal := r.value["hooks"]
	if isGlobal {
		r.massgenHooks(global, "/hooks", nil)
	}
	everybody := len(r.hooks)
	var agents []*massgenAgent
	if list, ok := r.value["agents"]; ok {
		for i, v := range r.list(list, "/agents") {
			agents = append(agents, r.massgenAgent(v, element("/agents", i))...)
		}
	}
	if one, ok := r.value["agent"]; ok {
		agents = append(agents, r.massgenAgent(one, "/agent")...)
	}
	if !isGlobal && len(agents) == 0 {
		r.bad("", "the file has no hooks, neither for all agents nor for one")
	}
	for _, h := range r.hooks[:everybody] {
		var without []string
		for _, a := range agents {
			if slices.Contains(a.override, h.Events[0]) {
				without = append(without, a.id)
			}
		}
		if len(without) > 0 {
			h.If = []string{"agent_id(!" + strings.Join(without, "|") + ")"}
		}
	}
}

// massgenAgent reads the hooks of one agent, below its backend.
func (r *dialectReader) massgenAgent(v any, pointer string) []*massgenAgent {
	m, _ := v.(map[string]any)
	r.others(pointer, m, "backend")
	backend, _ := m["backend"].(map[string]any)
	at := below(pointer, "backend")
	r.others(at, backend, "hooks")
	hooks, ok := backend["hooks"]
	if !ok {
		return nil
	}
	a := &massgenAgent{}
	if a.id, _ = m["id"].(string); a.id == "" || strings.ContainsAny(a.id, "|*?[\\!") || strings.TrimSpace(a.id) != a.id {
		r.bad(pointer, "%s: its hooks need an id of the agent, without | * ? [ ! and \\", dotted(pointer))
		return nil
	}
	r.massgenHooks(hooks, below(at, "hooks"), a)
	return []*massgenAgent{a}
}

// massgenHooks reads hooks in either form: a list whose members name their
// event as type, or lists by event.
func (r *dialectReader) massgenHooks(v any, pointer string, a *massgenAgent) {
	byEvent, ok := v.(map[string]any)
	if !ok {
		for i, v := range r.list(v, pointer) {
			at := element(pointer, i)
			e := r.entry(at)
			m := r.object(v, at)
			event(massgenEvents)(e, m["type"], below(at, "type"))
			r.massgenHook(e, m, nil, a)
		}
		return
	}
	for _, name := range r.sorted(byEvent, pointer) {
		at := below(pointer, name)
		list := byEvent[name]
		if table, ok := list.(map[string]any); ok { // with override beside its hooks
			list = r.massgenTable(name, table, at, a)
			at = below(at, "hooks")
		}
		for i, v := range r.list(list, at) {
			e := r.entry(element(at, i))
			m := r.object(v, e.pointer)
			event(massgenEvents)(e, name, at)
			r.massgenHook(e, m, m["type"], a)
		}
	}
}

func (r *dialectReader) massgenTable(name string, table map[string]any, at string, a *massgenAgent) any {
	for _, key := range r.sorted(table, at) {
		if key != "override" && key != "hooks" {
			r.bad(below(at, key), "unknown key %s%s", dotted(below(at, key)), didYouMean(key, "", []string{"hooks", "override"}))
		}
	}
	r.massgenOverride(massgenEvents[name], table, at, a)
	return table["hooks"]
}

// massgenOverride notes that an agent has its own hooks only.
func (r *dialectReader) massgenOverride(name hook.Name, m map[string]any, pointer string, a *massgenAgent) {
	switch v, ok := m["override"]; {
	case !ok || v == false:
	case v != true:
		r.bad(below(pointer, "override"), "%s must be true or false", dotted(below(pointer, "override")))
	case a == nil:
		r.bad(below(pointer, "override"), "override is for the hooks of one agent: there is nothing above those of all")
	default:
		a.override = append(a.override, name)
	}
}

// massgenHook reads one hook; how says how its handler is called, nil in a
// list, where only callables stand.
func (r *dialectReader) massgenHook(e *entry, m map[string]any, how any, a *massgenAgent) {
	if len(e.Events) > 0 {
		r.massgenOverride(e.Events[0], m, e.pointer, a)
	}
	e.read(massgenHook, false, m, e.pointer)
	switch given, is := e.Config["handler"].(string); {
	case is && e.Kind != "":
		e.bad(below(e.pointer, "handler"), "handler: the hook has a callable already")
	case how == nil && is:
		e.bad(below(e.pointer, "handler"), "handler: say with type, python or command, how it is called, under the key of its event; a list has callable")
	case how == "python" && is:
		handler(hook.Command, "python")(e, given, below(e.pointer, "handler"))
	case how == "command" && is:
		handler(hook.Command, "command")(e, given, below(e.pointer, "handler"))
	case how != nil && how != "python" && how != "command":
		e.bad(below(e.pointer, "type"), "%s must be python or command", dotted(below(e.pointer, "type")))
	}
	delete(e.Config, "handler")
	if call, ok := e.Config["python"].(string); ok && !callable().MatchString(call) {
		e.bad(e.pointer, "%q is not module.function", call)
	}
	if a != nil {
		e.If = []string{fmt.Sprintf("agent_id(%s)", a.id)}
	}
	e.done()
}
