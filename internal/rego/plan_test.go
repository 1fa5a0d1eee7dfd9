package rego_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/hook"
	"gate/internal/plan"
	"gate/internal/plan/build"
	"gate/internal/rego"
	"gate/scopes"
)

// planOf compiles a source, but for the policies that are left to OPA.
func planOf(t *testing.T, lib []scopes.Module, s *scopes.Source, opts ...plan.Option) (*plan.Evaluator, map[string]string) {
	t.Helper()
	r, err := build.Policies(lib, *s)
	if err != nil {
		t.Skip(err) // the whole source is broken
	}
	return plan.NewEvaluator([]plan.Source{{Source: s, Section: string(r.Section)}}, opts...), r.Left
}

// TestCasesPlanned has the policies of testdata/cases say from their plan what
// they say by OPA, mistakes of their members included.
func TestCasesPlanned(t *testing.T) {
	eachCase(t, func(t *testing.T, _ string, _ *txtar.Archive, c testCase) {
		planned, left := planOf(t, c.lib, &c.source)
		want := rego.New(c.lib, []scopes.Source{c.source}).Evaluate(context.Background(), c.source.Hooks, &c.event)
		got := planned.Evaluate(context.Background(), c.source.Hooks, &c.event)
		for i, h := range c.source.Hooks {
			switch {
			case left[h.ID] != "" && got[i].Fault != nil && got[i].Fault.Kind == hook.FaultLoad:
			case !reflect.DeepEqual(got[i].Verdict, want[i].Verdict), !sameFault(got[i].Fault, want[i].Fault):
				t.Errorf("%s\nplan %+v\n     %v\nOPA  %+v\n     %v", h.ID, got[i].Verdict, got[i].Fault, want[i].Verdict, want[i].Fault)
			}
		}
	})
}

// sameFault compares kinds and texts. Of values that are in conflict a plan knows
// no more than the place.
func sameFault(got, want *hook.Fault) bool {
	if got == nil || want == nil {
		return got == want
	}
	at, conflict := strings.CutSuffix(got.Error(), ": complete rules must not produce multiple outputs")
	return got.Kind == want.Kind && (got.Error() == want.Error() || conflict && strings.HasPrefix(want.Error(), at+": "))
}

// TestExhaustionPlanned holds that what wants more than there is ends in a fault
// from a plan as well, and soon.
func TestExhaustionPlanned(t *testing.T) {
	for _, c := range exhausting {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			s := sourceOf("project", hook.Project,
				"package acme.greedy\n"+c.text, "package acme.good\n\ndeny contains \"good\"\n")
			s.Hooks[0].Timeout = 300 * time.Millisecond
			e, left := planOf(t, nil, &s, plan.WithMemory(64<<20))
			if len(left) > 0 {
				t.Fatal(left)
			}
			answers := e.Evaluate(context.Background(), s.Hooks, bash("ls"))
			f := answers[0].Fault
			if f == nil || f.Kind != hook.FaultTimeout && f.Kind != hook.FaultMemory && f.Kind != hook.FaultEval {
				t.Errorf("fault %v, %+v", f, answers[0].Verdict)
			}
			if answers[1].Fault != nil || answers[1].Verdict.Effect() != hook.Deny {
				t.Errorf("the policy beside it: %+v, fault %v", answers[1].Verdict, answers[1].Fault)
			}
			t.Logf("%v after %v", f, answers[0].Took)
		})
	}
}

// TestFusePlanned compares values that take more stack than there is.
func TestFusePlanned(t *testing.T) {
	for _, text := range []string{
		"deny contains \"x\" if j24 == k24\n\nj0 := [\"x\"]\nk0 := [\"x\"]\n" +
			chain(24, "j%d := array.concat([j%d], [j%[2]d])\n") + chain(24, "k%d := array.concat([k%d], [k%[2]d])\n"),
		"deny contains \"x\" if {\n\tx := j24\n\tx = k24\n}\n\nj0 := {\"x\": 1}\nk0 := {\"x\": 1}\n" +
			chain(24, "j%d := {k: v | some k in {\"a\", \"b\"}; v := j%d}\n") + chain(24, "k%d := {k: v | some k in {\"a\", \"b\"}; v := k%d}\n"),
	} {
		s := sourceOf("project", hook.Project, "package acme.p\n\n"+text)
		s.Hooks[0].Timeout = time.Minute
		e, _ := planOf(t, nil, &s)
		a := e.Evaluate(context.Background(), s.Hooks, bash("ls"))[0]
		if a.Fault == nil || a.Fault.Kind != hook.FaultMemory {
			t.Errorf("fault %v", a.Fault)
		}
	}
}
