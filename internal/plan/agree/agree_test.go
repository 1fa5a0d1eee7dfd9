package agree_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gate/engine"
	"gate/hook"
	"gate/internal/plan/agree"
)

// says answers every hook by its id.
type says map[string]engine.Answer

func (s says) Evaluate(_ context.Context, hooks []*hook.Hook, _ *hook.Event) []engine.Answer {
	answers := make([]engine.Answer, len(hooks))
	for i, h := range hooks {
		answers[i] = s[h.ID]
	}
	return answers
}

func denies(reason string) engine.Answer {
	return engine.Answer{Verdict: hook.Verdict{Reasons: []hook.Reason{{Effect: hook.Deny, Reason: reason}}}}
}

func faults(kind hook.FaultKind) engine.Answer {
	return engine.Answer{Fault: hook.Faultf(kind, "%w", errors.New("no"))}
}

// TestDifferences holds which answers are different ones.
func TestDifferences(t *testing.T) {
	warns := engine.Answer{Verdict: hook.Verdict{Warnings: []hook.Reason{{Reason: "careful"}}}}
	for _, c := range []struct {
		name      string
		plan, opa engine.Answer
		want      string
	}{
		{"the same", denies("no"), denies("no"), ""},
		{"silent", engine.Answer{}, denies("no"), `p_test.rego:3: its plan says pass, 0 warnings, 0 rewrites, 0 texts, OPA deny (of 1) "no"`},
		{"another text", denies("never"), denies("no"), `its plan says deny (of 1) "never", OPA deny (of 1) "no"`},
		{"a warning", engine.Answer{}, warns, "OPA pass, 1 warnings"},
		{"long", denies(strings.Repeat("é", 99)), denies("no"), strings.Repeat("é", 40) + `…", OPA`},
		{"OPA cannot", denies("no"), faults(hook.FaultEval), `OPA cannot: "no"`},
		{"OPA has no time", denies("no"), faults(hook.FaultTimeout), ""},
		{"the plan cannot", faults(hook.FaultEval), denies("no"), ""},
	} {
		question := []agree.Question{{Event: &hook.Event{}, Hooks: []*hook.Hook{{ID: "same"}, {ID: "p"}}, At: "p_test.rego:3"}}
		got := agree.Differences(t.Context(), says{"p": c.opa}, says{"p": c.plan}, question)
		if !strings.Contains(got["p"], c.want) || (got["p"] == "") != (c.want == "") || got["same"] != "" {
			t.Errorf("%s: got %q", c.name, got)
		}
	}
}

// TestBounds holds that asking ends.
func TestBounds(t *testing.T) {
	var many []agree.Question
	for range agree.MaxAnswers {
		many = append(many, agree.Question{Event: &hook.Event{}, Hooks: []*hook.Hook{{ID: "same"}}})
	}
	last := agree.Question{Event: &hook.Event{}, Hooks: []*hook.Hook{{ID: "p"}}}
	opa := says{"p": denies("no")}
	if got := agree.Differences(t.Context(), opa, says{}, append(many, last)); len(got) != 0 {
		t.Errorf("asked more than %d: %v", agree.MaxAnswers, got)
	}
	if got := agree.Differences(t.Context(), opa, says{}, append(many[1:], last)); len(got) != 1 {
		t.Errorf("asked less than %d: %v", agree.MaxAnswers, got)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got := agree.Differences(ended, opa, says{}, []agree.Question{last}); len(got) != 0 {
		t.Errorf("asked after the end: %v", got)
	}
}
