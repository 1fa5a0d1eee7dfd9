package engine

import (
	"cmp"
	"fmt"

	"gate/hook"
)

// Combine folds steps into a decision. It is pure. The effect is the severest
// of the steps' effects, so it does not depend on their order, never falls when
// a step is added, and does not change when one is repeated. Reasons, warnings
// and context keep the order of the steps; of reasons and warnings exact
// repetitions, such as a re-check brings, count once.
func Combine(steps []hook.Step) hook.Decision {
	d := hook.Decision{Steps: steps}
	seen := map[hook.Reason]bool{}
	add := func(list []hook.Reason, s *hook.Step, r hook.Reason) []hook.Reason {
		r = attributed(s.Hook, r)
		key := r
		key.Span = nil
		if seen[key] {
			return list
		}
		seen[key] = true
		return append(list, r)
	}
	for i := range steps {
		s := &steps[i]
		d.Effect = max(d.Effect, s.Effect)
		for _, r := range s.Verdict.Reasons {
			d.Reasons = add(d.Reasons, s, r)
		}
		for _, r := range s.Verdict.Halt {
			r.Effect = hook.Deny
			d.Reasons = add(d.Reasons, s, r)
			if d.Halt == nil {
				r = attributed(s.Hook, r)
				d.Halt = &r
			}
		}
		if e := min(s.Effect, faultEffect(s.Hook, s.Fault)); e > hook.Pass {
			d.Reasons = add(d.Reasons, s, faultReason(s, e))
		}
		for _, r := range s.Verdict.Warnings {
			r.Effect = hook.Pass
			d.Warnings = add(d.Warnings, s, r)
		}
		for _, c := range s.Verdict.Context {
			if c.Hook == "" {
				c.Hook = s.Hook.ID
			}
			if c.Strategy == "" {
				c.Strategy = hook.ToolResult
			}
			d.Context = append(d.Context, c)
		}
		for name, value := range s.Verdict.Env {
			if _, set := d.Env[name]; !set {
				put(&d.Env, name, value)
			}
		}
	}
	if d.Effect >= hook.Ask {
		d.Env = nil
	}
	return d
}

func put(env *map[string]string, name, value string) {
	if *env == nil {
		*env = map[string]string{}
	}
	(*env)[name] = value
}

// attributed fills in who says so.
func attributed(h *hook.Hook, r hook.Reason) hook.Reason {
	if r.ID == "" {
		r.ID = h.ID
	}
	r.Hook, r.Scope, r.Authority, r.Source, r.Pos = h.ID, h.Scope, h.Authority, h.Source, h.Pos()
	return r
}

// faultEffect is what a fault of h adds to a decision, nothing if there is
// none. A policy that turns out not to compile makes its source a broken one,
// and that closes where the source is the user's, too.
func faultEffect(h *hook.Hook, f *hook.Fault) hook.Effect {
	switch {
	case f == nil:
		return hook.Pass
	case h.Closes(), f.Kind == hook.FaultLoad && h.Kind == hook.Rego && h.Authority.MayAllow():
		return hook.Deny
	case h.OnFault == hook.FaultAsk:
		return hook.Ask
	}
	return hook.Pass
}

// faultReason explains a fault that closes, and how a person repairs it.
func faultReason(s *hook.Step, e hook.Effect) hook.Reason {
	return hook.Reason{
		Effect: e,
		Reason: unanswered(s.Hook, s.Fault),
		Help:   s.Remedy,
	}
}

// unanswered says that a hook had a fault: which, of what kind, and why.
func unanswered(h *hook.Hook, f *hook.Fault) string {
	if f.Kind == hook.FaultLoad {
		return fmt.Sprintf("%s could not be loaded: %s", cmp.Or(h.Whole, h.ID), f.Error())
	}
	return fmt.Sprintf("%s could not answer (%s): %s", h.ID, f.Kind, f.Error())
}
