package engine_test

import (
	"context"
	"strings"
	"testing"

	"gate/engine"
	"gate/hook"
	"gate/scopes"
)

// TestParts: a policy about one file is asked about each of the files that a
// patch changes, and what it says can only tighten the whole.
func TestParts(t *testing.T) {
	patch := call("*** Begin Patch …")
	patch = patch.With("tool_name", "apply_patch")
	patch.Facts = &hook.Facts{}
	patch.Parts = []hook.Call{
		{Tool: "Write", Input: map[string]any{"file_path": "/p/a"}},
		{Tool: "Edit", Input: map[string]any{"file_path": "/p/b"}},
	}
	about := func(file string, v hook.Verdict) evalFunc {
		return func(_ context.Context, _ *hook.Hook, ev *hook.Event) engine.Answer {
			if ev.ToolInput()["file_path"] == file {
				return engine.Answer{Verdict: v}
			}
			return engine.Answer{}
		}
	}
	reason := func(e hook.Effect) hook.Verdict {
		return hook.Verdict{Reasons: []hook.Reason{{Effect: e, Reason: "it is " + e.String()}}}
	}
	rewrite := hook.Verdict{Rewrites: []hook.Rewrite{{Reason: "elsewhere", Input: map[string]any{"file_path": "/p/c"}}}}
	fault := func(_ context.Context, _ *hook.Hook, ev *hook.Event) engine.Answer {
		if ev.Tool() == "Edit" {
			return engine.Answer{Fault: hook.Faultf(hook.FaultEval, "broken")}
		}
		return engine.Answer{}
	}
	whole := func(_ context.Context, _ *hook.Hook, ev *hook.Event) engine.Answer {
		if ev.Tool() == "apply_patch" {
			return engine.Answer{Verdict: hook.Verdict{Rewrites: []hook.Rewrite{{Input: map[string]any{"command": "x"}}}}}
		}
		return engine.Answer{}
	}
	for _, c := range []struct {
		name   string
		eval   evalFunc
		effect hook.Effect
		says   string
	}{
		{"nothing", passes, hook.Pass, ""},
		{"the first is denied", about("/p/a", reason(hook.Deny)), hook.Deny, "it is deny"},
		{"the second is denied", about("/p/b", reason(hook.Deny)), hook.Deny, "it is deny"},
		{"one is asked about", about("/p/b", reason(hook.Ask)), hook.Ask, "it is ask"},
		{"one is allowed", about("/p/a", reason(hook.Allow)), hook.Pass, ""},
		{"one would be changed", about("/p/b", rewrite), hook.Deny, "part 2 of this, Edit, has to be changed first"},
		{"the whole is changed", whole, hook.Deny, "it is several calls in one"},
		{"a fault on one", fault, hook.Deny, "broken"},
	} {
		e := newEngine(t, []scopes.Source{source("managed", hook.Policy, hook.Managed)}, scopes.Settings{},
			engine.WithEvaluator(hook.Rego, c.eval), engine.WithFacts(func(*hook.Event) *hook.Facts { return &hook.Facts{} }))
		d := e.Decide(t.Context(), patch)
		if d.Effect != c.effect || !strings.Contains(d.Reason(), c.says) || d.Tool != "apply_patch" || d.Rewrite != nil && d.Effect < hook.Deny {
			t.Errorf("%s: %s %q, rewrite %v", c.name, d.Effect, d.Reason(), d.Rewrite)
		}
	}
}
