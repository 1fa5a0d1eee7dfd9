package audit_test

import (
	"reflect"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/audit"
)

// TestUsage keeps what a judge cost, of all its runs together.
func TestUsage(t *testing.T) {
	judge := &hook.Hook{ID: "judge", Kind: hook.Prompt, Source: "user"}
	usage := hook.Usage{Provider: "local", Model: "m", InputTokens: 100, OutputTokens: 10, Turns: 1}
	cached := usage
	cached.Cached = true
	d := hook.Decision{Effect: hook.Deny, Steps: []hook.Step{
		{Hook: judge, Usage: &cached, Took: time.Millisecond},
		{Hook: judge, Effect: hook.Deny, Usage: &usage, Took: time.Second, Round: 1},
		{Hook: &hook.Hook{ID: "check", Kind: hook.Command, Source: "user"}, Took: time.Minute},
	}}
	ev := &hook.Event{Name: hook.PreToolUse, Fields: map[string]any{}, Gate: hook.Gate{Now: time.Unix(1, 0).UTC()}}
	r, err := audit.Parse(audit.Of(ev, &d, hook.Reject).JSON())
	want := []audit.Policy{
		{ID: "judge", Source: "user", Effect: hook.Deny, Took: time.Second + time.Millisecond, Kind: "prompt", Runs: 2,
			Usage: &hook.Usage{Provider: "local", Model: "m", InputTokens: 200, OutputTokens: 20, Turns: 2}},
		{ID: "check", Source: "user", Kind: "command", Runs: 1},
	}
	if err != nil || !reflect.DeepEqual(r.Policies, want) {
		t.Errorf("%v: %+v", err, r.Policies)
	}
}
