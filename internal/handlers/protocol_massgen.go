package handlers

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"gate/engine"
	"gate/hook"
	"gate/internal/strictjson"
)

// massgenEvent is the HookEvent of MassGen.
func massgenEvent(_ *Handlers, _ *hook.Hook, ev *hook.Event) any {
	doc := told(ev, "session_id", "orchestrator_id", "agent_id", "tool_name", "tool_input")
	doc["hook_type"] = string(ev.Name)
	outputOf(doc, ev)
	return doc
}

// massgenVariables are always set, also to nothing: MassGen's hooks count on it.
func massgenVariables(h *Handlers, by *hook.Hook, ev *hook.Event, set func(name, value string)) {
	ownVariables(h, by, ev, set)
	set("MASSGEN_HOOK_TYPE", variable(string(ev.Name)))
	set("MASSGEN_TOOL_NAME", variable(ev.Tool()))
	set("MASSGEN_SESSION_ID", variable(ev.SessionID()))
	set("MASSGEN_AGENT_ID", variable(ev.Text("agent_id")))
}

// massgenMembers are the members of MassGen's HookResult.
var massgenMembers = map[string]member{
	"decision":       {"a string", "", (*answerReader).decide},
	"reason":         text("reason"),
	"updated_input":  {"an object", "tool_input", (*answerReader).replace},
	"inject":         {"an object", "tool_response", (*answerReader).inject},
	"hook_errors":    {"an array", "", (*answerReader).partial},
	"executed_hooks": {"an array", "", func(*answerReader, any) error { return nil }}, // the decision's steps are the trail
}

// massgenAnswer reads a HookResult. "allow" is what happens anyhow.
func massgenAnswer(h *hook.Hook, ev *hook.Event, said []byte) engine.Answer {
	text := bytes.TrimSpace(said)
	if len(text) == 0 || string(text) == "null" {
		return engine.Answer{}
	}
	return oneObject(h, text, func(doc map[string]any) engine.Answer {
		r := newReader(h, ev)
		r.lax, r.words = true, map[string]hook.Effect{"allow": hook.Pass, "ask": hook.Ask, "deny": hook.Deny}
		return r.read(withoutNull(doc), massgenMembers)
	})
}

// inject takes text for the agent, and where it is shown.
func (r *answerReader) inject(v any) error {
	m := withoutNull(v.(map[string]any))
	content, ok := m["content"].(string)
	strategy, _ := m["strategy"].(string)
	c := hook.Context{Text: content, Strategy: cmp.Or(hook.Strategy(strategy), hook.ToolResult)}
	switch {
	case !ok:
		return errors.New("has no content that is a string")
	case m["strategy"] != nil && c.Strategy != hook.ToolResult && c.Strategy != hook.UserMessage:
		return fmt.Errorf("has the strategy %q and it must be tool_result or user_message", strategy)
	}
	for name := range m {
		if name != "content" && name != "strategy" {
			return fmt.Errorf("has %s, which is neither content nor strategy", oneLine(name))
		}
	}
	if strings.TrimSpace(content) != "" {
		r.verdict.Context = append(r.verdict.Context, c)
	}
	return nil
}

// partial takes what a hook reports that did not work inside it.
func (r *answerReader) partial(v any) error {
	for _, e := range v.([]any) {
		s, ok := e.(string)
		if !ok {
			s = string(strictjson.Append(nil, e))
		}
		if err := r.message(s); err != nil {
			return err
		}
	}
	return nil
}
