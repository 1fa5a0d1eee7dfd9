package load

import (
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"gate/hook"
	"gate/internal/moment"
)

// cocodeDialect is that of the hooks architecture (seed 003): hooks.toml with a
// list of hooks, JSON or frontmatter with lists by event.
var cocodeDialect = dialect{name: moment.Cocode, hook: cocodeInner, read: readCocode, timeout: cocodeTimeout}

// cocodeTimeout is what its table of time-outs says.
func cocodeTimeout(h *hook.Hook) time.Duration {
	if h.Kind == hook.Webhook {
		return 30 * time.Second
	}
	return 10 * time.Minute
}

var cocodeEvents = themselves(
	hook.PreToolUse, hook.PostToolUse, hook.PostToolUseFailure, hook.UserPromptSubmit, hook.SessionStart, hook.SessionEnd,
	hook.Stop, hook.SubagentStart, hook.SubagentStop, hook.PreCompact, hook.Notification, hook.PermissionRequest,
)

// What a hook of the list has. Its handler is a table of its own.
var cocodeHook = fields{
	"event":         event(cocodeEvents),
	"tool_matcher":  matches(cocodeMatcher),
	"matcher":       matches(cocodeMatcher),
	"name":          title,
	"once":          flag(cocodeOnce),
	"timeout_sec":   seconds(false),
	"timeout":       seconds(false),
	"async":         flag(cocodeAsync),
	"async_mode":    flag(cocodeAsync),
	"async_timeout": lasting(false, cocodeLate),
	"shell":         cocodeShellTable,
	"command":       table(hook.Command, cocodeCommand),
	"prompt":        table(hook.Prompt, cocodePrompt),
	"agent":         table(hook.Agent, cocodePrompt),
	"webhook":       table(hook.Webhook, cocodeWebhook),
}

// The tables of handlers.
var (
	cocodeShell = fields{
		"command": named("command"), "pass_context": config("pass_context"), "parse_result": config("parse_result"),
	}
	cocodeCommand = fields{
		"command": named("command"), "timeout": seconds(false), "status_message": named("status_message"), "once": flag(cocodeOnce),
	}
	cocodePrompt = fields{
		"prompt": named("prompt"), "model": named("model"), "timeout": seconds(false), "once": flag(cocodeOnce),
	}
	cocodeWebhook = fields{"url": named("url"), "method": cocodeMethod, "headers": cocodeHeaders}
)

// What a hook under an event has: the form of JSON and of frontmatter.
var cocodeInner = fields{
	"type": kinds(map[string]hook.Kind{
		"command": hook.Command, "prompt": hook.Prompt, "agent": hook.Agent, "webhook": hook.Webhook,
	}),
	"matcher":        matches(cocodeMatcher),
	"name":           title,
	"command":        handler(hook.Command, "command"),
	"prompt":         named("prompt"),
	"model":          named("model"),
	"url":            handler(hook.Webhook, "url"),
	"method":         cocodeMethod,
	"headers":        cocodeHeaders,
	"timeout":        seconds(false),
	"status_message": named("status_message"),
	"once":           flag(cocodeOnce),
	"async":          flag(cocodeAsync),
	"async_mode":     flag(cocodeAsync),
	"async_timeout":  lasting(false, cocodeLate),
}

func cocodeOnce(e *entry, b bool)  { e.Once = e.Once || b }
func cocodeAsync(e *entry, b bool) { e.Async = e.Async || b }

func cocodeLate(e *entry, d time.Duration) { e.late = d }

// table takes the table of a handler in.
func table(kind hook.Kind, known fields) field {
	return func(e *entry, v any, pointer string) {
		e.becomes(kind, pointer)
		e.read(known, false, e.object(v, pointer), pointer)
	}
}

func cocodeShellTable(e *entry, v any, pointer string) {
	e.Config["pass_context"], e.Config["parse_result"] = false, false
	table(hook.Command, cocodeShell)(e, v, pointer)
}

func cocodeMethod(e *entry, v any, pointer string) {
	switch s, _ := v.(string); s {
	case "Post", "Put", "POST", "PUT":
		e.Config["method"] = strings.ToUpper(s)
	default:
		e.bad(pointer, "%s must be Post or Put", dotted(pointer))
	}
}

var variables = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`) })

// cocodeHeaders takes headers. They may have what variables they name.
func cocodeHeaders(e *entry, v any, pointer string) {
	headers(e, v, pointer)
	var names []any
	seen := map[string]bool{}
	m, _ := v.(map[string]any)
	for _, key := range sortedKeys(m) {
		text, _ := m[key].(string)
		for _, found := range variables().FindAllStringSubmatch(text, -1) {
			if !seen[found[1]] {
				seen[found[1]] = true
				names = append(names, found[1])
			}
		}
	}
	if names != nil {
		e.Config["env"] = names
	}
}

func readCocode(r *dialectReader) {
	off := false
	for _, key := range r.sorted(r.value, "") {
		at := below("", key)
		switch key {
		case "hooks":
		case "disable_all_hooks", "disableAllHooks", "allow_managed_hooks_only", "allowManagedHooksOnly":
			off = r.cocodeSwitch(key, at) || off
		case "statusLine", "fileSuggestion":
			r.note(at, "%s does not count here: it belongs into gate's settings", key)
		default:
			if path.Ext(r.file) == ".md" {
				continue // the rest of the frontmatter
			}
			r.bad(at, "unknown key %s%s", dotted(at), didYouMean(key, "", []string{"allow_managed_hooks_only", "disable_all_hooks", "hooks"}))
		}
	}
	switch hooks := r.value["hooks"].(type) {
	case nil:
		r.bad("", "the file has no hooks")
	case map[string]any:
		r.cocodeByEvent(hooks)
	default:
		for i, v := range r.list(hooks, "/hooks") {
			e := r.entry(element("/hooks", i))
			e.read(cocodeHook, false, r.object(v, e.pointer), e.pointer)
			e.cocodeDone()
		}
	}
	if off {
		r.hooks = nil
	}
}

// cocodeSwitch reads a setting, and reports whether it switches the file's own
// hooks off. What hooks of other files do is a matter of gate's settings.
func (r *dialectReader) cocodeSwitch(key, at string) bool {
	b, ok := r.value[key].(bool)
	if !ok {
		r.bad(at, "%s must be true or false", key)
	}
	managedOnly := strings.HasPrefix(key, "allow")
	switch {
	case !b:
		return false
	case managedOnly && r.src.Authority == hook.Managed:
		r.bad(at, "%s counts in gate's settings only; write allowManagedHooksOnly there", key)
		return false
	}
	r.note(at, "%s: the hooks of this file are left out; other hooks are a matter of gate's settings", key)
	return true
}

// cocodeByEvent reads lists by event: of hooks, or of groups with a matcher.
func (r *dialectReader) cocodeByEvent(hooks map[string]any) {
	for _, name := range r.sorted(hooks, "/hooks") {
		at := below("/hooks", name)
		for i, v := range r.list(hooks[name], at) {
			pointer := element(at, i)
			m := r.object(v, pointer)
			group, isGroup := m["hooks"]
			if !isGroup {
				r.cocodeInner(name, at, m, pointer, nil)
				continue
			}
			outer := map[string]any{}
			for key, v := range m {
				switch key {
				case "hooks":
				case "matcher":
					outer[key] = v
				default:
					r.bad(below(pointer, key), "unknown key %s%s", dotted(below(pointer, key)), didYouMean(key, "", []string{"hooks", "matcher"}))
				}
			}
			inner := below(pointer, "hooks")
			for j, v := range r.list(group, inner) {
				r.cocodeInner(name, at, r.object(v, element(inner, j)), element(inner, j), outer["matcher"])
			}
		}
	}
}

// cocodeInner reads one hook under an event; outer is its group's matcher.
func (r *dialectReader) cocodeInner(name, at string, m map[string]any, pointer string, outer any) {
	e := r.entry(pointer)
	event(cocodeEvents)(e, name, at)
	if outer != nil {
		matches(cocodeMatcher)(e, outer, below(pointer, "matcher"))
		if m["matcher"] != nil {
			e.bad(below(pointer, "matcher"), "%s: its group has one already", dotted(below(pointer, "matcher")))
		}
	}
	e.read(cocodeInner, false, m, pointer)
	e.cocodeDone()
}

// cocodeDone adds the hook. Whoever is asked there is told what was said before. Only a [hooks.shell] table says whether the command is
// given the context and whether its output is read; elsewhere both are so.
func (e *entry) cocodeDone() {
	if e.Kind == hook.Command && e.Config["pass_context"] == nil {
		e.Config["pass_context"], e.Config["parse_result"] = true, true
	}
	if e.Kind == hook.Prompt || e.Kind == hook.Agent {
		e.Config["transcript"] = true
	}
	if len(e.Events) > 0 && !aboutTool(e.Events[0]) && (e.Matcher != "" || e.never) {
		e.note(e.pointer, "%s is about no tool: the matcher does not count", e.Events[0])
		e.Matcher, e.never = "", false
	}
	e.done()
}
