package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/scopes"
)

// onTrial is a source beside the managed one, with n hooks of a kind.
func onTrial(kind hook.Kind, n int) scopes.Source {
	src := source("trial:managed", hook.Policy, hook.Managed)
	src.Bundle = &hook.Bundle{Name: "managed", Trial: true}
	first := *src.Hooks[0]
	src.Hooks = nil
	for i := range n {
		h := first
		h.ID, h.Kind, h.Source = fmt.Sprintf("trial.%d", i), kind, src.Name
		src.Hooks = append(src.Hooks, &h)
	}
	return src
}

// TestTrialHarmsNothing has a trial do its worst beside a release that denies, asks or has
// nothing to say: the answer is that of the release, within its time and the trial's.
func TestTrialHarmsNothing(t *testing.T) {
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	worst := map[string]func(context.Context) engine.Answer{
		"loops until it is told to end": func(ctx context.Context) engine.Answer {
			<-ctx.Done()
			return engine.Answer{Fault: hook.Faultf(hook.FaultTimeout, "no time left: %w", context.DeadlineExceeded)}
		},
		"does not end": func(context.Context) engine.Answer { time.Sleep(3 * time.Second); return engine.Answer{} },
		"panics":       func(context.Context) engine.Answer { panic("x") },
		"faults":       func(context.Context) engine.Answer { return engine.Answer{Fault: hook.Faultf(hook.FaultEval, "no")} },
		"exhausts memory": func(context.Context) engine.Answer {
			return engine.Answer{Fault: hook.Faultf(hook.FaultMemory, "no room")}
		},
		"cannot be loaded": func(context.Context) engine.Answer {
			return engine.Answer{Fault: hook.Faultf(hook.FaultLoad, "no plan")}
		},
		"denies, rewrites and halts": func(context.Context) engine.Answer {
			return engine.Answer{Verdict: hook.Verdict{
				Reasons: reason(hook.Deny), Halt: reason(hook.Deny), Rewrites: []hook.Rewrite{{Input: map[string]any{"command": "x"}}},
				Consults: []hook.Consult{{Hook: "nobody"}}, Env: map[string]string{"A": "b"}, Warnings: reason(hook.Pass),
			}}
		},
	}
	for name, does := range worst {
		for _, kind := range []hook.Kind{hook.Rego, hook.Command} {
			for _, effect := range []hook.Effect{hook.Pass, hook.Ask, hook.Deny} {
				t.Run(fmt.Sprintf("%s, %s, release says %s", name, kind, effect), func(t *testing.T) {
					t.Parallel()
					eval := evalFunc(func(ctx context.Context, h *hook.Hook, _ *hook.Event) engine.Answer {
						if strings.HasPrefix(h.ID, "trial.") {
							return does(ctx)
						}
						if effect == hook.Pass {
							return engine.Answer{}
						}
						return engine.Answer{Verdict: hook.Verdict{Reasons: reason(effect)}}
					})
					managed := source("managed", hook.Policy, hook.Managed)
					more := *managed.Hooks[0]
					more.ID, more.Kind = "managed.handler", hook.Command
					managed.Hooks = append(managed.Hooks, &more)
					decide := func(sources ...scopes.Source) hook.Decision {
						ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
						defer cancel()
						return newEngine(t, sources, scopes.Settings{}, engine.WithEvaluator(hook.Rego, eval), engine.WithEvaluator(hook.Command, eval)).Decide(ctx, call("ls"))
					}
					want, got := decide(managed), decide(managed, onTrial(kind, 20)) // the time of the call would be a fault
					if got.Effect != want.Effect || got.Fault != nil || got.Halt != nil || got.Rewrite != nil || len(got.Warnings) > 0 || len(got.Env) > 0 || fmt.Sprint(got.Reasons) != fmt.Sprint(want.Reasons) {
						t.Errorf("%s %v %v, want %s %v", got.Effect, got.Reasons, got.Fault, want.Effect, want.Reasons)
					}
					asked := 0
					for _, s := range got.Steps {
						if strings.HasPrefix(s.Hook.ID, "trial.") {
							asked++
						}
					}
					if asked != 20 && !(effect == hook.Deny && kind == hook.Command) { // handlers do not run for a call that is denied
						t.Errorf("%d hooks on trial have steps", asked)
					}
				})
			}
		}
	}
}

// TestTrialLeavesTime keeps a tenth of a short time for what is on trial, so that the
// administrator's policies are asked in what they have always had.
func TestTrialLeavesTime(t *testing.T) {
	eval := evalFunc(func(ctx context.Context, h *hook.Hook, _ *hook.Event) engine.Answer {
		if strings.HasPrefix(h.ID, "trial.") {
			<-ctx.Done()
		}
		return engine.Answer{}
	})
	sources := []scopes.Source{source("managed", hook.Policy, hook.Managed), onTrial(hook.Rego, 5), source("user", hook.Session, hook.User)}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	d := newEngine(t, sources, scopes.Settings{}, engine.WithEvaluator(hook.Rego, eval)).Decide(ctx, call("ls"))
	if d.Effect != hook.Pass || d.Fault != nil || ctx.Err() != nil {
		t.Errorf("%s after %s: %v, %v", d.Effect, d.Took, d.Fault, ctx.Err())
	}
}
