package engine_test

import (
	"context"
	"testing"

	"gate/engine"
	"gate/hook"
	"gate/scopes"
)

// TestAllowOfTheLibrary holds that the library allows nothing that somebody changed or
// objects to: what it proved is about the call as the agent sent it.
func TestAllowOfTheLibrary(t *testing.T) {
	for _, c := range []struct {
		name    string
		library bool
		other   hook.Verdict
		want    hook.Effect
	}{
		{"nobody objects", true, hook.Verdict{}, hook.Allow},
		{"a question", true, hook.Verdict{Reasons: []hook.Reason{{Effect: hook.Ask, Reason: "x"}}}, hook.Ask},
		{"a denial", true, hook.Verdict{Reasons: []hook.Reason{{Effect: hook.Deny, Reason: "x"}}}, hook.Deny},
		{"a change", true, hook.Verdict{Rewrites: []hook.Rewrite{{Value: map[string]any{"command": "new"}}}}, hook.Pass},
		{"a change, and a policy of a company", false, hook.Verdict{Rewrites: []hook.Rewrite{{Value: map[string]any{"command": "new"}}}}, hook.Allow},
	} {
		allows, other := source("allows", hook.Policy, hook.Managed), source("other", hook.Session, hook.User)
		allows.Library, allows.Hooks[0].Library = c.library, c.library
		answers := evalFunc(func(_ context.Context, h *hook.Hook, ev *hook.Event) engine.Answer {
			switch line, _ := ev.ToolInput()["command"].(string); {
			case h.Source == "allows":
				return engine.Answer{Verdict: hook.Verdict{Reasons: []hook.Reason{{Effect: hook.Allow, Reason: "harmless"}}}}
			case line == "new":
				return engine.Answer{}
			}
			return engine.Answer{Verdict: c.other}
		})
		e := newEngine(t, []scopes.Source{allows, other}, scopes.Settings{}, engine.WithEvaluator(hook.Rego, answers),
			engine.WithFacts(func(*hook.Event) *hook.Facts { return &hook.Facts{} }))
		d := e.Decide(t.Context(), hook.Event{Name: hook.PreToolUse, Facts: &hook.Facts{}, Fields: map[string]any{
			"tool_name": "Bash", "tool_input": map[string]any{"command": "old"},
		}})
		if d.Effect != c.want {
			t.Errorf("%s: %v, want %v: %+v", c.name, d.Effect, c.want, d.Reasons)
		}
	}
}
