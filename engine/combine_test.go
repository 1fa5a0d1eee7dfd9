package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gate/engine"
	"gate/hook"
)

// randomSteps makes steps as the engine records them: the effect is the
// verdict's, or what the fault adds.
func randomSteps(r *rand.Rand) []hook.Step {
	steps := make([]hook.Step, r.IntN(8))
	for i := range steps {
		h := &hook.Hook{ID: fmt.Sprint("h", r.IntN(4)), Scope: hook.Session, Authority: hook.User}
		if r.IntN(3) == 0 {
			h.Authority = hook.Managed
		}
		s := &steps[i]
		s.Hook = h
		for range r.IntN(3) {
			e := hook.Effect(r.IntN(4))
			s.Verdict.Reasons = append(s.Verdict.Reasons, hook.Reason{Effect: e, Reason: fmt.Sprint("r", r.IntN(3))})
		}
		if r.IntN(5) == 0 {
			s.Verdict.Halt = []hook.Reason{{Reason: "halt"}}
		}
		s.Effect = s.Verdict.Effect()
		if r.IntN(4) == 0 {
			s.Fault = hook.Faultf(hook.FaultEval, "broken")
			if h.Closes() {
				s.Effect = hook.Deny
			}
		}
	}
	return steps
}

func TestCombineLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	effect := func(steps ...[]hook.Step) hook.Effect { return engine.Combine(slices.Concat(steps...)).Effect }
	for range 5000 {
		a, b, c := randomSteps(r), randomSteps(r), randomSteps(r)
		if effect(a, b) != max(effect(a), effect(b)) {
			t.Fatalf("adding steps does not take the maximum: %v and %v", effect(a), effect(b))
		}
		if effect(a, b) < effect(a) {
			t.Fatal("a step lowered the effect")
		}
		if effect(a, b, c) != max(effect(a, b), effect(c)) || effect(a, b, c) != max(effect(a), effect(b, c)) {
			t.Fatal("grouping changes the effect")
		}
		all := slices.Concat(a, b, c)
		want := engine.Combine(all)
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if got := effect(all); got != want.Effect {
			t.Fatalf("another order gives %v, not %v", got, want.Effect)
		}
		once, twice := engine.Combine(a), engine.Combine(slices.Concat(a, a))
		if once.Effect != twice.Effect || len(once.Reasons) != len(twice.Reasons) {
			t.Fatal("repeating steps changes the decision")
		}
		explained := slices.ContainsFunc(want.Reasons, func(r hook.Reason) bool { return r.Effect == want.Effect })
		if want.Effect > hook.Pass && !explained {
			t.Fatalf("nothing explains %v: %v", want.Effect, want.Reasons)
		}
		if (want.Halt != nil) && want.Effect != hook.Deny {
			t.Fatal("a halt that does not deny")
		}
	}
}

func TestCombineAttributes(t *testing.T) {
	h := &hook.Hook{ID: "acme.x", Scope: hook.Policy, Authority: hook.Managed, Source: "managed:acme", File: "x.rego", Line: 7}
	d := engine.Combine([]hook.Step{{
		Hook: h, Effect: hook.Deny,
		Verdict: hook.Verdict{Reasons: []hook.Reason{
			{Effect: hook.Deny, Reason: "no", Hook: "forged", Scope: hook.Skill}, {ID: "acme.x.special", Effect: hook.Ask, Reason: "sure?"},
		}},
	}})
	want := []hook.Reason{
		{ID: "acme.x", Effect: hook.Deny, Reason: "no", Hook: "acme.x", Scope: hook.Policy, Authority: hook.Managed, Source: "managed:acme", Pos: "x.rego:7"},
		{ID: "acme.x.special", Effect: hook.Ask, Reason: "sure?", Hook: "acme.x", Scope: hook.Policy, Authority: hook.Managed, Source: "managed:acme", Pos: "x.rego:7"},
	}
	if !slices.Equal(d.Reasons, want) {
		t.Errorf("got %+v\nwant %+v", d.Reasons, want)
	}
}

func BenchmarkCombine(b *testing.B) {
	h := &hook.Hook{ID: "acme.x", Scope: hook.Policy, Authority: hook.Managed}
	for _, n := range []int{25, 1000} {
		steps := make([]hook.Step, n)
		for i := range steps {
			steps[i] = hook.Step{Hook: h}
		}
		steps[n/2].Effect = hook.Deny
		steps[n/2].Verdict.Reasons = []hook.Reason{{Effect: hook.Deny, Reason: "no"}}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				engine.Combine(steps)
			}
		})
	}
}
