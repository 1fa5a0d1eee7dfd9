package load

import (
	"slices"
	"time"

	"gate/hook"
	"gate/internal/moment"
)

// codewhaleDialect is that of the hook lifecycle RFC (seed 002): TOML with a
// list below hooks. The rest of the file is the agent's own.
var codewhaleDialect = dialect{name: moment.CodeWhale, hook: codewhaleHook, read: readCodewhale, timeout: func(*hook.Hook) time.Duration { return 0 }}

// codewhaleEvents are the events of the RFC, and those that it builds on.
var codewhaleEvents = map[string]hook.Name{
	"message_submit":    hook.UserPromptSubmit,
	"turn_end":          hook.Stop,
	"subagent_spawn":    hook.SubagentStart,
	"subagent_complete": hook.SubagentStop,
	"session_start":     hook.SessionStart,
	"session_end":       hook.SessionEnd,
	"tool_call_before":  hook.PreToolUse,
	"tool_call_after":   hook.PostToolUse,
	"shell_env":         moment.ShellEnv,
	"mode_change":       "mode_change",
	"on_error":          "on_error",
}

var codewhaleHook = fields{
	"event":             codewhaleEvent,
	"name":              title,
	"command":           handler(hook.Command, "command"),
	"timeout_secs":      seconds(false),
	"continue_on_error": closes(hook.FaultContinue, hook.FaultDeny),
	"background":        flag(codewhaleBackground),
	"condition":         codewhaleCondition,
}

// codewhaleEvent takes the event of a hook. An agent that never asks for variables of
// its shell by itself may take some on other events.
func codewhaleEvent(e *entry, v any, pointer string) {
	event(codewhaleEvents)(e, v, pointer)
	if !slices.Contains(e.Events, moment.ShellEnv) {
		return
	}
	for _, m := range moment.Moments() {
		if m.Shell {
			e.Events = append(e.Events, m.Name)
		}
	}
}

func codewhaleBackground(e *entry, b bool) {
	if b {
		e.Config["background"], e.Async = true, true
	}
}

// codewhaleCondition takes the conditions that a matcher can hold: always, the
// name of a tool, any of such.
func codewhaleCondition(e *entry, v any, pointer string) {
	names, always, ok := e.codewhaleTools(v, pointer)
	switch {
	case !ok || always:
	case len(names) == 0:
		e.never = true
		e.note(pointer, "the hook is left out: its condition never holds")
	default:
		e.Matcher, _ = anyOf(names)
	}
}

func (e *entry) codewhaleTools(v any, pointer string) (names []string, always, ok bool) {
	m := e.object(v, pointer)
	switch kind, _ := m["type"].(string); kind {
	case "always":
		return nil, true, true
	case "tool_name":
		name, _ := m["name"].(string)
		if name == "" {
			e.bad(pointer, "%s lacks name", dotted(pointer))
		}
		return []string{exactly(name)}, false, name != ""
	case "any":
		at := below(pointer, "conditions")
		ok = true
		for i, c := range e.list(m["conditions"], at) {
			more, one, fine := e.codewhaleTools(c, element(at, i))
			names, always, ok = append(names, more...), always || one, ok && fine
		}
		return names, always, ok
	case "":
		e.bad(pointer, "%s lacks type", dotted(pointer))
	default:
		e.bad(pointer, "%s: gate cannot judge a condition of type %q; there are always, any and tool_name", dotted(pointer), kind)
	}
	return nil, false, false
}

func readCodewhale(r *dialectReader) {
	r.others("", r.value, "hooks")
	table, ok := r.value["hooks"].(map[string]any)
	if !ok {
		r.bad("/hooks", "the file has no table hooks")
		return
	}
	known := []string{"default_timeout_secs", "enabled", "hooks"}
	for _, key := range r.sorted(table, "/hooks") {
		if at := below("/hooks", key); !slices.Contains(known, key) {
			r.bad(at, "unknown key %s%s", dotted(at), didYouMean(key, "", known))
		}
	}
	for i, v := range r.list(table["hooks"], "/hooks/hooks") {
		e := r.entry(element("/hooks/hooks", i))
		e.read(codewhaleHook, false, r.object(v, e.pointer), e.pointer)
		if given, ok := table["default_timeout_secs"]; ok && len(e.timeouts) == 0 && !e.Async {
			seconds(false)(e, given, "/hooks/default_timeout_secs")
		}
		if len(e.Events) > 0 && e.Matcher != "" && !aboutTool(e.Events[0]) {
			e.bad(below(e.pointer, "condition"), "%s is about no tool: the condition would never hold", e.Events[0])
		}
		e.done()
	}
	switch v := table["enabled"]; v {
	case nil, true:
	case false:
		r.note("/hooks/enabled", "enabled: the hooks of this file are left out")
		r.hooks = nil
	default:
		r.bad("/hooks/enabled", "hooks.enabled must be true or false")
	}
}
