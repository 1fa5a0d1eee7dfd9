package engine_test

import (
	"context"
	"strings"
	"testing"

	"gate/engine"
	"gate/hook"
	"gate/internal/moment"
	"gate/scopes"
)

// TestRewrites holds the engine to the table of events: what it lists is
// rewritten, and a rewrite of anything else is a Reject that says so.
func TestRewrites(t *testing.T) {
	values := map[string]any{"prompt": "new", "tool_input": map[string]any{"command": "new"}, "tool_response": map[string]any{"stdout": "new"}}
	for _, m := range append(moment.Every(), moment.Moment{Name: "unheard"}) {
		value, fields := values[m.Rewrites], map[string]any{"hook_event_name": string(m.Name), "tool_name": "Bash"}
		if m.Rewrites != "" {
			fields[m.Rewrites] = map[string]any{"command": "old"}
		} else {
			value = "new"
		}
		rewrite := evalFunc(func(_ context.Context, _ *hook.Hook, ev *hook.Event) engine.Answer {
			if text, _ := ev.Fields[m.Rewrites].(string); text == "new" {
				return engine.Answer{}
			}
			return engine.Answer{Verdict: hook.Verdict{Rewrites: []hook.Rewrite{{Value: value}}}}
		})
		src := source("managed", hook.Policy, hook.Managed)
		src.Hooks[0].Events = []hook.Name{m.Name}
		e := newEngine(t, []scopes.Source{src}, scopes.Settings{}, engine.WithEvaluator(hook.Rego, rewrite))
		d := e.Decide(t.Context(), hook.Event{Name: m.Name, Facts: &hook.Facts{}, Fields: fields})
		made := d.Rewrite != nil || d.Output != nil
		switch {
		case m.Rewrites != "" && (!made || d.Effect == hook.Deny || (d.Output != nil) != (m.Rewrites == "tool_response")):
			t.Errorf("%s: %v, %v, %v, %v", m.Name, d.Effect, d.Rewrite, d.Output, d.Reasons)
		case m.Rewrites == "" && (made || d.Effect != hook.Deny || len(d.Reasons) != 1 || !strings.Contains(d.Reasons[0].Reason, "nothing can be rewritten")):
			t.Errorf("%s: %v, %v, %v, %v", m.Name, d.Effect, d.Rewrite, d.Output, d.Reasons)
		}
	}
}
