package adapters_test

import (
	"math"
	"strings"
	"testing"

	"gate/adapters"
	"gate/hook"
)

// TestRule says what follows where nobody can be asked.
func TestRule(t *testing.T) {
	because := func(e hook.Effect) []hook.Reason {
		return []hook.Reason{{ID: "p", Effect: e, Reason: "why", Hook: "p"}}
	}
	fault := []hook.Step{{
		Hook: &hook.Hook{ID: "p"}, Effect: hook.Deny, Outcome: hook.Blocking, Fault: hook.Faultf(hook.FaultTimeout, "no answer in time"),
	}}
	input := map[string]any{"a": "b"}
	for _, c := range []struct {
		name   string
		event  hook.Name
		d      *hook.Decision
		result hook.Result
		reason string
	}{
		{"nothing", hook.PreToolUse, &hook.Decision{}, hook.Continue, ""},
		{"allow", hook.PreToolUse, &hook.Decision{Effect: hook.Allow, Reasons: because(hook.Allow)}, hook.Continue, ""},
		{"ask", hook.PreToolUse, &hook.Decision{Effect: hook.Ask, Reasons: because(hook.Ask)}, hook.Reject, "cannot be asked here:\nwhy"},
		{"deny", hook.PreToolUse, &hook.Decision{Effect: hook.Deny, Reasons: because(hook.Deny), Rewrite: input}, hook.Reject, "why"},
		{"rewrite", hook.PreToolUse, &hook.Decision{Rewrite: input}, hook.ModifyInput, ""},
		{"a rewrite that cannot be written", hook.PreToolUse, &hook.Decision{Rewrite: map[string]any{"a": math.NaN()}}, hook.Reject, "gate could not decide"},
		{"a rewrite into no object", hook.PreToolUse, &hook.Decision{Rewrite: "b"}, hook.Reject, "must be an object"},
		{"an output that cannot be written", hook.PostToolUse, &hook.Decision{Output: math.NaN()}, hook.Reject, "cannot be written"},
		{"a fault before the call", hook.PreToolUse, &hook.Decision{Effect: hook.Deny, Steps: fault}, hook.Reject, "no answer in time"},
		{"a fault after the call", hook.PostToolUse, &hook.Decision{Effect: hook.Deny, Steps: fault}, hook.Continue, ""},
		{"halt", hook.PreToolUse, &hook.Decision{Halt: &hook.Reason{Reason: "enough"}}, hook.Reject, "enough"},
		{"no decision", hook.PreToolUse, nil, hook.Reject, "there is no decision"},
	} {
		r := adapters.Rule(&hook.Event{Name: c.event}, c.d)
		if r.Result != c.result || !strings.Contains(r.Reason, c.reason) || (r.Reason == "") != (r.Result != hook.Reject) {
			t.Errorf("%s: %+v", c.name, r)
		}
		if (r.Input != nil) != (r.Result == hook.ModifyInput) || r.Result == hook.Reject && r.Output != nil {
			t.Errorf("%s: input %v, output %v", c.name, r.Input, r.Output)
		}
	}
}
