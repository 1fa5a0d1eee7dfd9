package load

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"gate/adapters"
	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// claudeDialect is that of Claude Code: settings files, plugins' hooks.json
// and frontmatter.
var claudeDialect = dialect{name: moment.Claude, hook: claudeHook, read: readClaude, timeout: claudeTimeout}

// claudeTimeout is what its documentation says.
func claudeTimeout(h *hook.Hook) time.Duration {
	switch h.Kind {
	case hook.Prompt:
		return 30 * time.Second
	case hook.Agent:
		return 60 * time.Second
	}
	claude, _ := adapters.Lookup("claude")
	return claude.Deadline(h.Events[0])
}

var claudeHook = fields{
	"type": kinds(map[string]hook.Kind{
		"command": hook.Command, "http": hook.Webhook, "mcp_tool": hook.MCPTool, "prompt": hook.Prompt, "agent": hook.Agent,
	}),
	"if":              claudeIf,
	"timeout":         seconds(true),
	"statusMessage":   named("status_message"),
	"once":            flag(claudeOnce),
	"command":         named("command"),
	"args":            list("args"),
	"shell":           claudeShell,
	"async":           flag(func(e *entry, b bool) { e.Async = e.Async || b }),
	"asyncRewake":     flag(claudeRewake),
	"onFailure":       claudeFailure,
	"url":             named("url"),
	"headers":         headers,
	"allowedEnvVars":  list("env"),
	"server":          named("server"),
	"tool":            named("tool"),
	"input":           input,
	"prompt":          named("prompt"),
	"model":           named("model"),
	"continueOnBlock": flag(claudeContinue),
}

func claudeIf(e *entry, v any, pointer string) {
	text, _ := v.(string)
	list, err := conditions(text)
	switch {
	case err != nil:
		e.bad(pointer, "%w", err)
	case len(e.Events) > 0 && !aboutTool(e.Events[0]):
		e.never = true
		e.note(pointer, "the hook is left out: an if never holds on %s, which is about no tool", e.Events[0])
	default:
		e.If = list
	}
}

// claudeOnce counts in frontmatter only, as it does there.
func claudeOnce(e *entry, b bool) {
	if e.src.Scope == hook.Skill {
		e.Once = b
	} else if b {
		e.note(e.pointer, "once counts in the frontmatter of skills only, as in Claude Code")
	}
}

func claudeShell(e *entry, v any, pointer string) {
	if v != "bash" {
		e.bad(pointer, "%s: gate runs lines with the POSIX shell only; give the program in command and the rest in args", dotted(pointer))
	}
}

func claudeRewake(e *entry, b bool) {
	if b {
		e.Async = true
		e.note(e.pointer, "asyncRewake: gate cannot wake an agent; the command's output comes with the next event")
	}
}

func claudeFailure(e *entry, v any, pointer string) {
	switch v {
	case "block":
		e.OnFault = hook.FaultDeny
	case "continue":
		e.OnFault = hook.FaultContinue
	default:
		e.bad(pointer, "%s must be block or continue", dotted(pointer))
	}
}

func claudeContinue(e *entry, b bool) {
	if !b {
		e.note(e.pointer, "continueOnBlock: a prompt's no rejects the call; gate does not end the turn for it")
	}
}

var claudeVariable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(\w+|\{\w+\})`) })

// claudeHeaders writes variables in headers as gate does. Those that the hook
// may not see are nothing, as in Claude Code.
func (e *entry) claudeHeaders() {
	given, _ := e.Config["headers"].(map[string]any)
	if len(given) == 0 {
		return
	}
	filled := maps.Clone(given)
	for key, v := range given {
		text, ok := v.(string)
		if !ok {
			continue // it is a mistake already
		}
		filled[key] = claudeVariable().ReplaceAllStringFunc(text, func(ref string) string {
			name := strings.Trim(ref, "${}")
			if slices.Contains(strictjson.Texts(e.Config["env"]), name) {
				return "${" + name + "}"
			}
			e.note(e.pointer, "the header %s: %s is nothing, because allowedEnvVars does not name it", key, ref)
			return ""
		})
	}
	e.Config["headers"] = filled
}

// readClaude reads the key hooks. Everything else in the file is Claude Code's
// own, but for the switch.
func readClaude(r *dialectReader) {
	r.others("", r.value, "hooks", "disableAllHooks")
	hooks, ok := r.value["hooks"].(map[string]any)
	if !ok {
		r.bad("/hooks", "the file has no hooks by event")
		return
	}
	for _, name := range r.sorted(hooks, "/hooks") {
		at := below("/hooks", name)
		list, err := events([]any{name})
		if err != nil {
			r.bad(at, "%w", err)
			list = []hook.Name{hook.Name(name)} // so that the rest is looked at, too
		}
		for i, v := range r.list(hooks[name], at) {
			r.claudeGroup(list, r.object(v, element(at, i)), element(at, i))
		}
	}
	switch v := r.value["disableAllHooks"]; v {
	case nil, false:
	case true:
		r.note("/disableAllHooks", "disableAllHooks: the hooks of this file are left out; other hooks are a matter of gate's settings")
		r.hooks = nil
	default:
		r.bad("/disableAllHooks", "disableAllHooks must be true or false")
	}
}

func (r *dialectReader) claudeGroup(events []hook.Name, m map[string]any, pointer string) {
	for _, key := range r.sorted(m, pointer) {
		if key != "matcher" && key != "hooks" {
			r.passOver(below(pointer, key), key, []string{"hooks", "matcher"})
		}
	}
	at := below(pointer, "hooks")
	for i, v := range r.list(m["hooks"], at) {
		e := r.entry(element(at, i))
		e.Events = events
		if given, ok := m["matcher"]; ok {
			matches(claudeMatcher)(e, given, below(pointer, "matcher"))
		}
		e.read(claudeHook, true, r.object(v, e.pointer), e.pointer)
		e.claudeHeaders()
		e.done()
	}
}
