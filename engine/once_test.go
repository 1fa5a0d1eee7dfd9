package engine_test

import (
	"context"
	"testing"

	"gate/engine"
	"gate/hook"
	"gate/internal/session"
	"gate/scopes"
)

// A hook with Once set is gone after its first success in a session: a failure
// and a denial are none.
func TestOnce(t *testing.T) {
	src := scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User, Hooks: []*hook.Hook{{
		ID: "greet", Kind: hook.Command, Once: true, Scope: hook.Session, Authority: hook.User, Source: "user",
		Events: []hook.Name{hook.PreToolUse},
	}}}
	runs := 0
	answers := map[string]engine.Answer{
		"fault": {Fault: hook.Faultf(hook.FaultOutput, "no answer")},
		"deny":  {Verdict: hook.Verdict{Reasons: []hook.Reason{{Effect: hook.Deny, Reason: "no"}}}},
	}
	evaluator := evalFunc(func(_ context.Context, _ *hook.Hook, ev *hook.Event) engine.Answer {
		runs++
		return answers[ev.ToolInput()["command"].(string)]
	})
	var m session.Memory
	done := func(_ *hook.Event, h *hook.Hook) bool { return m.Done(h) }
	e := newEngine(t, []scopes.Source{src}, scopes.Settings{}, engine.WithEvaluator(hook.Command, evaluator), engine.WithDone(done))
	for _, c := range []struct {
		line string
		runs int
	}{{"fault", 1}, {"deny", 2}, {"ls", 3}, {"ls", 3}, {"deny", 3}} {
		ev := call(c.line)
		d := e.Decide(t.Context(), ev)
		m.End(&ev, &d, d.Effect == hook.Deny)
		if runs != c.runs {
			t.Errorf("%s: it ran %d times, not %d", c.line, runs, c.runs)
		}
	}
}
