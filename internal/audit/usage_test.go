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

// TestWould keeps what policies would have done, each in its severest run, and nothing
// of those whose answer followed. What was spared comes right after what objected.
func TestWould(t *testing.T) {
	says := func(e hook.Effect, text string) *hook.Verdict {
		return &hook.Verdict{Reasons: []hook.Reason{{Effect: hook.Ask, Reason: "may I"}, {Effect: e, Reason: text}}}
	}
	policy := func(id string) *hook.Hook { return &hook.Hook{ID: id, Kind: hook.Rego, Source: "managed"} }
	twice := policy("twice")
	d := hook.Decision{Effect: hook.Ask, Steps: []hook.Step{
		{Hook: policy("silent")},
		{Hook: twice, Would: says(hook.Ask, "first"), Spared: "approval"},
		{Hook: policy("rewrites"), Would: &hook.Verdict{Rewrites: []hook.Rewrite{{}}}, Spared: "record"},
		{Hook: policy("loses only context"), Would: &hook.Verdict{Context: []hook.Context{{}}}, Spared: "record"},
		{Hook: policy("asks"), Effect: hook.Ask, Verdict: *says(hook.Ask, "x"), Would: says(hook.Deny, "no"), Spared: "ask"},
		{Hook: policy("ends the turn"), Would: &hook.Verdict{Halt: []hook.Reason{{Reason: "over password=hunter2secret"}}}, Spared: "trial"},
		{Hook: twice, Would: says(hook.Deny, "second"), Spared: "exception", Round: 1},
	}}
	ev := &hook.Event{Name: hook.PreToolUse, Fields: map[string]any{}, Gate: hook.Gate{Now: time.Unix(1, 0).UTC()}}
	r, err := audit.Parse(audit.Of(ev, &d, hook.Reject).JSON())
	want := []audit.Policy{
		{ID: "asks", Effect: hook.Ask, Would: &audit.Would{Effect: hook.Deny, Reason: "no", Spared: "ask"}},
		{ID: "twice", Runs: 2, Would: &audit.Would{Effect: hook.Deny, Reason: "second", Spared: "exception"}},
		{ID: "ends the turn", Would: &audit.Would{Effect: hook.Deny, Reason: "over password=[redacted]", Spared: "trial"}},
		{ID: "silent"},
		{ID: "rewrites", Would: &audit.Would{Rewrite: true, Spared: "record"}},
		{ID: "loses only context"},
	}
	for i := range want {
		want[i].Source, want[i].Runs = "managed", max(want[i].Runs, 1)
	}
	if err != nil || !reflect.DeepEqual(r.Policies, want) {
		t.Errorf("%v: %+v", err, r.Policies)
		for i := range r.Policies {
			t.Logf("%s: %+v", r.Policies[i].ID, r.Policies[i].Would)
		}
	}
}
