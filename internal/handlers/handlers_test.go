package handlers_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"gate/engine"
	"gate/hook"
	"gate/internal/handlers"
	"gate/scopes"
)

// Example shows a Go function as a hook.
func Example() {
	h := handlers.New(handlers.Options{Inline: map[string]handlers.Inline{
		"no-friday": func(_ context.Context, ev *hook.Event) (hook.Verdict, error) {
			return hook.Verdict{Reasons: []hook.Reason{{Effect: hook.Deny, Reason: "not on a Friday"}}}, nil
		},
	}})
	set, err := scopes.New([]scopes.Source{{
		Name: "own", Scope: hook.Session, Authority: hook.User,
		Hooks: []*hook.Hook{{
			ID: "no-friday", Kind: hook.Inline, Scope: hook.Session, Authority: hook.User, Source: "own",
			Events: []hook.Name{hook.PreToolUse},
		}},
	}}, scopes.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := engine.New(set, engine.WithEvaluator(hook.Inline, h.Evaluator(hook.Inline)))
	if err != nil {
		fmt.Println(err)
		return
	}
	d := e.Decide(context.Background(), hook.Event{Name: hook.PreToolUse, Fields: map[string]any{"tool_name": "Bash"}})
	fmt.Println(d.Effect, d.Reason())
	// Output: deny not on a Friday
}

func TestInlineFaults(t *testing.T) {
	broken := errors.New("no connection")
	var told []handlers.Progress
	h := handlers.New(handlers.Options{
		Inline: map[string]handlers.Inline{
			"broken": func(context.Context, *hook.Event) (hook.Verdict, error) { return hook.Verdict{}, broken },
		},
		Progress: func(p handlers.Progress) { told = append(told, p) },
	})
	e := h.Evaluator(hook.Inline)
	list := []*hook.Hook{{ID: "broken", Kind: hook.Inline}, {ID: "missing", Kind: hook.Inline}}
	answers := e.Evaluate(t.Context(), list, &hook.Event{Name: hook.Stop})
	if f := answers[0].Fault; f == nil || f.Kind != hook.FaultEval || !errors.Is(f, broken) {
		t.Errorf("an error of the function: %v", f)
	}
	if f := answers[1].Fault; f == nil || f.Kind != hook.FaultLoad {
		t.Errorf("no function: %v", f)
	}
	if len(told) != 4 || told[0].Done || !told[1].Done || told[1].Fault == nil || told[2].Hook != list[1] {
		t.Errorf("progress: %+v", told)
	}
}

func TestKindsOfOthers(t *testing.T) {
	if e := handlers.New(handlers.Options{}).Evaluator(hook.Rego); e != nil {
		t.Errorf("%T runs policies", e)
	}
}
