package load

import (
	"path"
	"time"

	"gate/hook"
	"gate/internal/moment"
)

// zephDialect is that of zeph-subagent (seed 000): YAML by event, bare or below
// the key hooks as in frontmatter.
var zephDialect = dialect{name: moment.Zeph, hook: zephHook, read: readZeph, timeout: func(*hook.Hook) time.Duration { return 30 * time.Second }}

var zephEvents = themselves(
	hook.PreToolUse, hook.PostToolUse, hook.PostToolUseFailure, moment.PermissionDenied, moment.CwdChanged, moment.FileChanged,
)

var zephHook = fields{
	"type":         kinds(map[string]hook.Kind{"command": hook.Command, "mcp_tool": hook.MCPTool}),
	"command":      named("command"),
	"server":       named("server"),
	"tool":         named("tool"),
	"args":         input,
	"timeout_secs": seconds(false),
	"fail_closed":  flag(zephClosed),
}

// zephClosed leaves a hook that does not say so to its authority.
func zephClosed(e *entry, b bool) {
	if e.OnFault = hook.FaultContinue; b {
		e.OnFault = hook.FaultDeny
	}
}

func readZeph(r *dialectReader) {
	all, pointer := r.value, ""
	if m, ok := r.value["hooks"].(map[string]any); ok {
		r.others("", r.value, "hooks")
		all, pointer = m, "/hooks"
	}
	if len(all) == 0 {
		r.bad("", "the file has no hooks")
	}
	for _, name := range r.sorted(all, pointer) {
		at := below(pointer, name)
		if zephEvents[name] == "" {
			r.bad(at, "unknown event %q%s", name, didYouMean(name, "", sortedKeys(zephEvents)))
			continue
		}
		for i, v := range r.list(all[name], at) {
			r.zephMatcher(zephEvents[name], r.object(v, element(at, i)), element(at, i))
		}
	}
}

// zephMatcher reads one matcher with its hooks. An event about no tool has
// none, and may have its hooks without one.
func (r *dialectReader) zephMatcher(name hook.Name, m map[string]any, pointer string) {
	tool := aboutTool(name)
	if m["hooks"] == nil && !tool {
		r.zephHook(name, nil, m, pointer)
		return
	}
	for _, key := range r.sorted(m, pointer) {
		switch {
		case key == "hooks", key == "matcher" && tool:
		case key == "matcher":
			r.bad(below(pointer, key), "%s: %s is about no tool", dotted(below(pointer, key)), name)
		default:
			r.bad(below(pointer, key), "unknown key %s%s", dotted(below(pointer, key)), didYouMean(key, "", []string{"hooks", "matcher"}))
		}
	}
	if tool && m != nil && m["matcher"] == nil {
		r.bad(pointer, "%s lacks matcher", dotted(pointer))
	}
	inner := below(pointer, "hooks")
	if m == nil {
		return
	}
	for i, v := range r.list(m["hooks"], inner) {
		r.zephHook(name, m["matcher"], v, element(inner, i))
	}
}

func (r *dialectReader) zephHook(name hook.Name, given, v any, pointer string) {
	e := r.entry(pointer)
	e.Events = []hook.Name{name}
	if given != nil {
		matches(zephMatcher)(e, given, below(path.Dir(path.Dir(pointer)), "matcher"))
	}
	e.read(zephHook, false, r.object(v, pointer), pointer)
	e.done()
}
