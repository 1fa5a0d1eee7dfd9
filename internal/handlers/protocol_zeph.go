package handlers

import (
	"bytes"
	"cmp"
	"unicode/utf8"

	"gate/engine"
	"gate/hook"
	"gate/internal/strictjson"
)

// afterTool reports the events that zeph tells on standard input.
func afterTool(ev *hook.Event) bool {
	return ev.Name == hook.PostToolUse || ev.Name == hook.PostToolUseFailure
}

// zephEvent is the PostToolUseHookInput of zeph.
func zephEvent(_ *Handlers, _ *hook.Hook, ev *hook.Event) any {
	doc := told(ev, "tool_name", "session_id", "duration_ms")
	doc["tool_args"] = ev.Fields["tool_input"]
	if ev.Name == hook.PostToolUse {
		outputOf(doc, ev)
	} else {
		renamed(doc, "tool_error", ev, "error")
	}
	return doc
}

// maxArgsVariable bounds ZEPH_TOOL_ARGS_JSON, in bytes.
const maxArgsVariable = 64 << 10

// zephVariables are all that a hook of zeph sees besides PATH.
func zephVariables(_ *Handlers, _ *hook.Hook, ev *hook.Event, set func(name, value string)) {
	if tool, ok := ev.Fields["tool_name"].(string); ok {
		set("ZEPH_TOOL_NAME", variable(tool))
		set("ZEPH_TOOL_ARGS_JSON", prefix(string(strictjson.Append(nil, ev.Fields["tool_input"])), maxArgsVariable))
	}
	for _, v := range [][2]string{
		{"ZEPH_AGENT_ID", ev.Text("agent_id")}, {"ZEPH_AGENT_NAME", cmp.Or(ev.Text("agent_name"), ev.Text("agent_type"))},
		{"ZEPH_SESSION_ID", ev.SessionID()},
	} {
		if v[1] != "" {
			set(v[0], variable(v[1]))
		}
	}
}

// prefix returns the first bytes of s, at most so many, that are whole
// characters.
func prefix(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// zephAnswer reads what zeph wants to know of a command after a tool: other
// text for its output. What is no JSON is talk.
func zephAnswer(h *hook.Hook, ev *hook.Event, said []byte) engine.Answer {
	if h.Kind != hook.Command || !afterTool(ev) {
		return engine.Answer{}
	}
	v, err := strictjson.Decode(said, strictjson.Limits{Bytes: maxOutput})
	if err != nil {
		if bytes.Contains(said, []byte("updatedToolOutput")) {
			return unreadable(h, err) // nobody says that by chance
		}
		return engine.Answer{}
	}
	doc, _ := v.(map[string]any)
	specific, _ := doc["hookSpecificOutput"].(map[string]any)
	output := specific["updatedToolOutput"]
	switch text, ok := output.(string); {
	case output == nil:
		return engine.Answer{}
	case !ok:
		return failed(hook.FaultOutput, "%s answered: hookSpecificOutput.updatedToolOutput is %s and must be a string", h.ID, strictjson.TypeName(output))
	case ev.Name != hook.PostToolUse:
		return engine.Answer{Verdict: hook.Verdict{Warnings: []hook.Reason{{ID: h.ID, Reason: "a failed call has no output to replace", Pos: h.Pos()}}}}
	default:
		return engine.Answer{Verdict: hook.Verdict{Rewrites: []hook.Rewrite{{Reason: "changed by " + h.ID, Value: text}}}}
	}
}
