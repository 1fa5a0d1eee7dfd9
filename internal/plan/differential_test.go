package plan_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/internal/plan"
	"gate/internal/plan/build"
	"gate/internal/rego"
	"gate/scopes"
)

// A pair is one random policy, run both ways.
type pair struct {
	text          string
	source        scopes.Source
	byOPA, byPlan engine.Evaluator
}

var errNoPair = errors.New("the policy does not compile")

// randomPair writes a policy from a seed. An error wraps errNoPair if OPA does
// not take the policy.
func randomPair(seed uint64) (*pair, error) {
	g := &grammar{Rand: rand.New(rand.NewPCG(seed, 1))}
	p := &pair{text: g.policy("acme.random"), source: scopes.Source{Name: "source", Scope: hook.Session, Authority: hook.Project}}
	p.source.Modules = []scopes.Module{
		{File: "random.rego", Package: "acme.random", Text: p.text},
		{File: "shared.rego", Package: "acme.shared", Text: "package acme.shared\n\nwords contains w if some w in input.b\n"},
	}
	p.source.Hooks = []*hook.Hook{{
		ID: "acme.random", Kind: hook.Rego, Source: "source", Scope: hook.Session, Authority: hook.Project,
		File: "random.rego", Line: 1, Events: []hook.Name{hook.PreToolUse},
	}}
	r, err := build.Policies(nil, p.source)
	if err != nil {
		return nil, err
	}
	if why := r.Left["acme.random"]; why != "" {
		return nil, fmt.Errorf("%w: %s", errNoPair, why)
	}
	p.byOPA = rego.New(nil, []scopes.Source{p.source})
	p.byPlan = plan.NewEvaluator([]plan.Source{{Source: &p.source, Section: string(r.Section)}})
	return p, nil
}

func (p *pair) event(seed uint64) *hook.Event {
	g := &grammar{Rand: rand.New(rand.NewPCG(seed, 2))}
	fields := map[string]any{"hook_event_name": "PreToolUse", "tool_name": g.one("Bash", "Read")}
	for _, k := range []string{"a", "b", "c", "d", "e"} {
		if g.IntN(5) > 0 {
			fields[k] = g.document(3)
		}
	}
	return &hook.Event{Name: hook.PreToolUse, Agent: "a", Fields: fields, Facts: &hook.Facts{}, Gate: hook.Gate{Now: time.Unix(1e9, 0)}}
}

// compare asks both about one event. The plan may have a fault where OPA's rule
// index spared one; the opposite, and any other difference, is an error.
func (p *pair) compare(ev *hook.Event) (said, spared bool, err error) {
	want := p.byOPA.Evaluate(context.Background(), p.source.Hooks, ev)[0]
	got := p.byPlan.Evaluate(context.Background(), p.source.Hooks, ev)[0]
	switch {
	case got.Fault != nil && got.Fault.Kind == hook.FaultEval && want.Fault == nil:
		return false, true, nil
	case (got.Fault == nil) != (want.Fault == nil),
		got.Fault != nil && got.Fault.Kind != want.Fault.Kind,
		!reflect.DeepEqual(got.Verdict, want.Verdict):
		return false, false, fmt.Errorf("%s\ninput %v\nplan %+v fault %v\nOPA  %+v fault %v", p.text, ev.Fields, got.Verdict, got.Fault, want.Verdict, want.Fault)
	}
	return len(want.Verdict.Reasons)+len(want.Verdict.Warnings)+len(want.Verdict.Remember) > 0, false, nil
}

// TestRandomPolicies compares the plans of random policies with OPA.
func TestRandomPolicies(t *testing.T) {
	asked, said, spared := 0, 0, 0
	for seed := range uint64(150) {
		p, err := randomPair(seed)
		if errors.Is(err, errNoPair) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(10) {
			s, skipped, err := p.compare(p.event(seed*1000 + i))
			if err != nil {
				t.Fatalf("seed %d, event %d: %v", seed, i, err)
			}
			asked++
			if s {
				said++
			}
			if skipped {
				spared++
			}
		}
	}
	t.Logf("asked %d times, %d had something to say, %d errors were spared by OPA", asked, said, spared)
	if said < asked/20 || spared > asked/10 {
		t.Errorf("asked %d times, %d had something to say, %d errors were spared by OPA", asked, said, spared)
	}
}

// FuzzPolicies is TestRandomPolicies without an end.
func FuzzPolicies(f *testing.F) {
	f.Add(uint64(1), uint64(1))
	f.Fuzz(func(t *testing.T, policy, event uint64) {
		p, err := randomPair(policy)
		if errors.Is(err, errNoPair) {
			t.Skip()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.compare(p.event(event)); err != nil {
			t.Fatal(err)
		}
	})
}
