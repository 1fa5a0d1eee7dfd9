package engine_test

import (
	"context"
	"errors"
	"testing"

	"gate/engine"
	"gate/hook"
	"gate/internal/mark"
	"gate/internal/strictjson"
	"gate/scopes"
)

// sees says by a warning which memory each hook sees.
type sees struct{}

func (sees) Evaluate(_ context.Context, hooks []*hook.Hook, ev *hook.Event) []engine.Answer {
	answers := make([]engine.Answer, len(hooks))
	for i := range hooks {
		answers[i].Verdict.Warnings = []hook.Reason{{Reason: string(strictjson.Append(nil, ev.Memory))}}
	}
	return answers
}

func setOf(t *testing.T) *scopes.Set {
	t.Helper()
	var sources []scopes.Source
	for _, src := range []scopes.Source{
		{Name: "managed", Scope: hook.Policy, Authority: hook.Managed},
		{Name: "user", Scope: hook.Session, Authority: hook.User},
		{Name: "project", Scope: hook.Session, Authority: hook.Project},
	} {
		src.Hooks = []*hook.Hook{{
			ID: "of." + src.Name, Kind: hook.Rego, Scope: src.Scope, Authority: src.Authority, Source: src.Name, Events: []hook.Name{hook.PreToolUse},
		}}
		sources = append(sources, src)
	}
	set, err := scopes.New(sources, scopes.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestMarksSeen gives hooks of three sources the marks that are theirs to see, which
// the event brings once its facts are known.
func TestMarksSeen(t *testing.T) {
	e, err := engine.New(setOf(t), engine.WithEvaluator(hook.Rego, sees{}), engine.WithFacts(facts))
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	ev := hook.Event{Name: hook.PreToolUse, Fields: map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "ls"}}}
	ev.Recall = func(ev *hook.Event) *hook.Fault {
		if asked++; ev.Facts == nil || ev.Facts.Shell == nil {
			t.Error("the event has no facts yet")
		}
		ev.Memory = map[string]any{"calls": 1}
		ev.Marks = mark.Marks{All: []mark.Mark{
			{Name: "a", Value: "1", Source: "managed", Policy: true}, {Name: "a", Value: "2", Source: "user"}, {Name: "b", Value: `{"c":[1],"b":2}`, Source: "user"},
		}, Full: []string{"project"}}
		return nil
	}
	ev.Parts = []hook.Call{{Tool: "Bash", Input: map[string]any{"command": "ls"}}}
	d := e.Decide(context.Background(), ev)
	want := map[string]string{
		"of.managed": `{"calls":1,"marks":{"a":1},"marks_full":false}`,
		"of.user":    `{"calls":1,"marks":{"a":1,"b":{"b":2,"c":[1]}},"marks_full":false}`,
		"of.project": `{"calls":1,"marks":{"a":1},"marks_full":true}`,
	}
	if asked != 1 || len(d.Steps) != 2*len(want) {
		t.Fatalf("asked %d times, %d steps", asked, len(d.Steps))
	}
	for _, s := range d.Steps {
		if got := s.Verdict.Warnings[0].Reason; got != want[s.Hook.ID] {
			t.Errorf("%s sees %s, want %s", s.Hook.ID, got, want[s.Hook.ID])
		}
	}
}

// TestRecallFails closes where the memory cannot be had, and runs no hook.
func TestRecallFails(t *testing.T) {
	e, err := engine.New(setOf(t), engine.WithEvaluator(hook.Rego, sees{}), engine.WithFacts(facts))
	if err != nil {
		t.Fatal(err)
	}
	for name, recall := range map[string]func(*hook.Event) *hook.Fault{
		"fault": func(*hook.Event) *hook.Fault { return &hook.Fault{Kind: hook.FaultLoad, Err: errors.New("damaged")} },
		"panic": func(*hook.Event) *hook.Fault { panic("damaged") },
	} {
		ev := hook.Event{Name: hook.PreToolUse, Fields: map[string]any{"tool_name": "Bash"}, Recall: recall}
		if d := e.Decide(context.Background(), ev); d.Effect != hook.Deny || d.Fault == nil || len(d.Steps) != 1 {
			t.Errorf("%s: %s with %d steps, fault %v", name, d.Effect, len(d.Steps), d.Fault)
		}
	}
}
