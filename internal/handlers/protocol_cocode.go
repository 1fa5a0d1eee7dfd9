package handlers

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strings"

	"gate/engine"
	"gate/hook"
	"gate/internal/strictjson"
)

// cocodeEvent is the HookContext of cocode. What the event does not have is
// absent; env holds what gate adds to the environment, and nothing of the
// environment itself.
func cocodeEvent(h *Handlers, by *hook.Hook, ev *hook.Event) any {
	env := map[string]any{}
	ownVariables(h, by, ev, func(name, value string) { env[name] = value })
	doc := told(ev, "tool_name", "tool_input", "error", "agent_id")
	maps.Copy(doc, map[string]any{"event": string(ev.Name), "session_id": ev.SessionID(), "cwd": ev.Dir(), "env": env})
	renamed(doc, "tool_output", ev, "tool_response")
	renamed(doc, "user_prompt", ev, "prompt")
	return doc
}

func parsesResult(h *hook.Hook) bool { return h.Kind == hook.Webhook || on(h, "parse_result") }

// cocodeMembers are the members of cocode's HookOutput, in both spellings that
// it has.
var cocodeMembers = func() map[string]member {
	ignored := func(is string) member { return member{is, "", func(*answerReader, any) error { return nil }} }
	out := map[string]member{
		"continue":           {"a boolean", "", (*answerReader).goOn},
		"suppress_output":    ignored("a boolean"),
		"stop_reason":        text("permissionDecisionReason"),
		"decision":           {"a string", "", (*answerReader).decide},
		"reason":             text("reason"),
		"updated_input":      {"", "", (*answerReader).newInput},
		"additional_context": {"a string", "", (*answerReader).context},
		"async":              ignored("a boolean"), // it has ended: nobody waits
		"async_timeout":      ignored("a number"),
	}
	for snake, camel := range map[string]string{
		"suppress_output": "suppressOutput", "stop_reason": "stopReason", "updated_input": "updatedInput",
		"additional_context": "additionalContext", "async_timeout": "asyncTimeout",
	} {
		out[camel] = out[snake]
	}
	return out
}()

func (r *answerReader) goOn(v any) error {
	if v == false {
		r.special = hook.Deny
	}
	return nil
}

// newInput takes what an event can have changed before it happens.
func (r *answerReader) newInput(v any) error {
	must := map[string]string{"tool_input": "an object", "prompt": "a string"}[r.ev.Name.Rewrites()]
	switch {
	case must == "":
		return fmt.Errorf("is nothing that %s can have", r.ev.Name)
	case strictjson.TypeName(v) != must:
		return fmt.Errorf("is %s and must be %s", strictjson.TypeName(v), must)
	}
	return r.replace(v)
}

// cocodeAnswer reads a HookResult of cocode or its HookOutput, if the hook asks
// for that. What is neither and looks like none is no opinion.
func cocodeAnswer(h *hook.Hook, ev *hook.Event, said []byte) engine.Answer {
	if !parsesResult(h) {
		return engine.Answer{}
	}
	text := bytes.TrimSpace(said)
	if string(text) == `"Continue"` {
		return engine.Answer{}
	}
	if plain, err := isPlain(text); err != nil {
		return unreadable(h, err)
	} else if plain {
		return engine.Answer{}
	}
	return oneObject(h, text, func(doc map[string]any) engine.Answer {
		r := newReader(h, ev)
		r.lax, r.words = true, map[string]hook.Effect{"allow": hook.Pass, "deny": hook.Deny}
		if ev.Name == hook.PermissionRequest {
			r.words["allow"] = hook.Allow
		}
		for name := range doc {
			if cocodeResults[name].take != nil {
				if len(doc) > 1 {
					r.errs = append(r.errs, errors.New("more than one result"))
				}
				return r.read(doc, cocodeResults)
			}
		}
		return r.read(withoutNull(doc), cocodeMembers)
	})
}

// cocodeResults are the three results, of which an answer is one.
var cocodeResults = map[string]member{
	"Continue": {"null", "", func(*answerReader, any) error { return nil }},
	"Reject": {"", "", func(r *answerReader, v any) error {
		m, _ := v.(map[string]any)
		why, ok := m["reason"].(string)
		r.general, r.said["reason"] = hook.Deny, strings.TrimSpace(why)
		if !ok {
			return errors.New("has no reason")
		}
		return nil
	}},
	"ModifyInput": {"an object", "", func(r *answerReader, v any) error {
		input, ok := v.(map[string]any)["new_input"]
		if !ok {
			return errors.New("has no new_input")
		}
		return r.newInput(input)
	}},
}
