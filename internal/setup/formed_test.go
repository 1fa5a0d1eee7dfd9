package setup

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/internal/forms"
	"gate/internal/rego"
)

// says answers for each hook with its text as a reason, or with a fault.
type says map[string]error

func (s says) Evaluate(_ context.Context, hooks []*hook.Hook, _ *hook.Event) []engine.Answer {
	answers := make([]engine.Answer, len(hooks))
	for i, h := range hooks {
		if err, fails := s[h.ID]; fails && err != nil {
			answers[i].Fault = &hook.Fault{Kind: hook.FaultEval, Err: err}
		}
		answers[i].Verdict.Warnings = []hook.Reason{{Reason: s["who"].Error() + " " + h.ID}}
		answers[i].Took = time.Second
	}
	return answers
}

// TestFormedAsks holds who is asked about which policy: plans where they hold it,
// else OPA from what it compiled, and the files where these have no answer.
func TestFormedAsks(t *testing.T) {
	hooks := []*hook.Hook{{ID: "plain"}, {ID: "left"}, {ID: "faulty"}, {ID: "left-lost"}, {ID: "left-faulty"}}
	wrong := errors.New("wrong")
	asked := 0
	f := &formed{
		Evaluator: forms.Evaluator{
			Left:  func(h *hook.Hook) bool { return strings.HasPrefix(h.ID, "left") },
			Plans: says{"who": errors.New("plan"), "faulty": wrong},
			OPA:   says{"who": errors.New("saved"), "left-lost": fmt.Errorf("lost: %w", rego.ErrSaved), "left-faulty": wrong},
		},
		files: func() engine.Evaluator { asked++; return says{"who": errors.New("files")} },
	}
	var got []string
	for _, a := range f.Evaluate(t.Context(), hooks, &hook.Event{}) {
		text := a.Verdict.Warnings[0].Reason
		if a.Fault != nil {
			text += "!"
		}
		got = append(got, text)
	}
	if want := "plan plain, saved left, files faulty, files left-lost, saved left-faulty!"; strings.Join(got, ", ") != want || asked != 1 {
		t.Errorf("%s\nwant %s", strings.Join(got, ", "), want)
	}
	f.Evaluate(t.Context(), hooks[:2], &hook.Event{})
	if asked != 1 {
		t.Error("files were read for nothing")
	}
	f.files = func() engine.Evaluator { return nil }
	if a := f.Evaluate(t.Context(), hooks[2:3], &hook.Event{}); a[0].Fault == nil {
		t.Error("without files the fault is gone")
	}
}
