package policies_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/internal/artifact"
	"gate/internal/artifact/build"
	"gate/internal/plan"
	"gate/internal/policytest"
	"gate/internal/rego"
	"gate/policies"
	"gate/scopes"
)

// TestIndexPlan keeps the compiled form that gate-hook answers from equal to the
// files. Every policy must be in it.
func TestIndexPlan(t *testing.T) {
	lib, _ := library(t)
	b := build.Builder{Lib: lib, Compile: build.Plan, Left: build.Left, Now: time.Now}
	c, err := b.Library(policies.FS())
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range c.Sources[0].Hooks {
		if h.Why != "" {
			t.Errorf("%s is not compiled: %s", h.ID, h.Why)
		}
	}
	want, err := artifact.Encode(&c)
	if err != nil {
		t.Fatal(err)
	}
	keep(t, policies.PlanFile, policies.Plan(), want)
}

// TestPlanDecides holds that the compiled form decides every call of the cases as
// the text does, with all steps compared. Only the hooks that may concern a call
// are looked at.
func TestPlanDecides(t *testing.T) {
	lib, src := library(t)
	all, err := scopes.New([]scopes.Source{src}, scopes.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	fromText, err := engine.New(all, engine.WithAllSteps(), engine.WithEvaluator(hook.Rego, rego.New(lib, []scopes.Source{src})))
	if err != nil {
		t.Fatal(err)
	}
	form, err := artifact.Open(policies.Plan(), artifact.LibraryMaker, artifact.Library)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, spec := range everyCase(t) {
		ev, w, err := policytest.Event(spec)
		if err != nil {
			t.Fatal(err)
		}
		ev.Facts = factsIn(w, ev)
		want := comparable(fromText.Decide(context.Background(), *ev))
		got := comparable(routed(t, form, ev).Decide(context.Background(), *ev))
		same(t, spec, &got, &want)
		n += len(want.Reasons)
	}
	if n == 0 {
		t.Error("no policy said anything")
	}
}

// routed is an engine that knows the policies which may concern an event.
func routed(t *testing.T, form *artifact.Artifact, ev *hook.Event) *engine.Engine {
	t.Helper()
	list, err := form.Sources(ev, artifact.As{})
	if err != nil || len(list) != 1 {
		t.Fatal(len(list), err)
	}
	set, err := scopes.New([]scopes.Source{list[0].Source}, scopes.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	program, err := list[0].Program()
	if err != nil {
		t.Fatal(err)
	}
	evaluator := plan.NewEvaluator([]plan.Source{{Source: set.Sources()[0], Section: program}})
	en, err := engine.New(set, engine.WithAllSteps(), engine.WithEvaluator(hook.Rego, evaluator))
	if err != nil {
		t.Fatal(err)
	}
	return en
}

// same compares decisions, of whose hooks each has its own copies.
func same(t *testing.T, spec any, got, want *hook.Decision) {
	t.Helper()
	if len(got.Steps) != len(want.Steps) {
		t.Fatalf("%v: %d steps, not %d", spec, len(got.Steps), len(want.Steps))
	}
	for i := range got.Steps {
		if got.Steps[i].Fault != nil {
			t.Errorf("%v: %s: %v", spec, got.Steps[i].Hook.ID, got.Steps[i].Fault)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v\nfrom the plan: %+v\nfrom the text: %+v", spec, got, want)
	}
}
