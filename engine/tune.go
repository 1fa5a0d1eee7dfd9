package engine

import (
	"fmt"
	"slices"
	"time"

	"gate/hook"
	"gate/internal/setting"
	"gate/internal/verdict"
)

// Of what spares a call the answer of a policy, all but the levels.
const (
	sparedByTrial     = "trial"
	sparedByException = "exception"
	sparedByApproval  = "approval"
)

// except takes the consequences of a denial or an ask away, if settings except
// this very call from the policy. What the policy would rewrite goes too: the
// exception is for the call as it is.
func (c *call) except(h due, w *weighed) {
	if w.Effect() < hook.Ask && len(w.Confine) == 0 {
		return
	}
	e, pos, ok := h.Excepted(&c.ev)
	if !ok {
		return
	}
	c.excepted[h.Bound] = true
	w.keep(sparedByException)
	w.Reasons = slices.DeleteFunc(slices.Clone(w.Reasons), func(r hook.Reason) bool { return r.Effect >= hook.Ask })
	w.Halt, w.Rewrites, w.Consults, w.Env, w.Confine = nil, nil, nil, nil, nil
	last := e.Until.Add(-time.Nanosecond).UTC() // it ends when a day does, as a rule
	what := w.would.Effect().String()
	if len(w.would.Confine) > 0 && w.would.Effect() < hook.Ask {
		what = "confine"
	}
	w.ignored = append(w.ignored, fmt.Sprintf("%s: excepted by %s until %s (%s), %s",
		what, e.Owner, last.Format("2006-01-02"), e.Reason, pos))
}

// limit takes away what the hook's level does not let it bring about. A fault
// at warn is shown.
func (w *weighed) limit(h due, fault *hook.Fault) {
	because := func(what any) string { return fmt.Sprintf("%v: its level is %s, %s", what, w.level, h.LevelPos()) }
	switch v := w.Verdict; w.level {
	case setting.LevelConfine:
		w.confine(h, because)
	case setting.LevelAsk:
		w.ask(because)
	case setting.LevelWarn:
		if faultEffect(h.Hook, fault) > hook.Pass {
			w.Warnings = append(slices.Clone(v.Warnings), hook.Reason{
				Reason: unanswered(h.Hook, fault),
			})
		}
		if v.Effect() == hook.Pass && len(v.Rewrites)+len(v.Consults)+len(v.Env)+len(v.Confine) == 0 {
			return
		}
		w.keep(string(w.level))
		objections := capped(v.Reasons, v.Halt, hook.Ask)
		objections = slices.DeleteFunc(objections, func(r hook.Reason) bool { return r.Effect < hook.Ask })
		for _, want := range v.Confine {
			objections = append(objections, hook.Reason{Reason: want.Reason})
		}
		w.Verdict = hook.Verdict{Warnings: append(slices.Clone(w.Warnings), objections...), Context: v.Context, Remember: v.Remember}
		w.ignored = append(w.ignored, because(v.Effect()))
	case setting.LevelOff, setting.LevelRecord:
		if len(v.Remember) > 0 && !h.tried() {
			w.Remember = nil
			w.ignored = append(w.ignored, because("remember"))
		}
		if v.Effect() == hook.Pass && len(v.Rewrites)+len(v.Consults)+len(v.Warnings)+len(v.Context)+len(v.Env)+len(v.Confine) == 0 {
			return
		}
		why := string(w.level)
		if h.tried() {
			why = sparedByTrial
		}
		w.keep(why)
		w.Verdict = hook.Verdict{Remember: w.Remember}
		w.ignored = append(w.ignored, because("would "+v.Effect().String()))
	}
}

// ask makes denials questions.
func (w *weighed) ask(because func(any) string) {
	if w.Effect() <= hook.Ask {
		return
	}
	w.keep(string(w.level))
	w.Reasons = capped(w.Reasons, w.Halt, hook.Ask)
	w.Halt = nil
	w.ignored = append(w.ignored, because(hook.Deny))
}

// confine makes questions of a policy confinements, and denials questions: nothing that is
// denied runs for being confined. Only settings of the administrator or the person may
// spare a question so.
func (w *weighed) confine(h due, because func(any) string) {
	if w.Effect() < hook.Ask {
		return
	}
	if w.Effect() == hook.Deny {
		w.ask(because)
		return
	}
	if !w.confines {
		w.ignored = append(w.ignored, "level confine: "+notBefore)
		return
	}
	if !h.LevelAuthority().MayAllow() {
		w.ignored = append(w.ignored, fmt.Sprintf("level confine: %s authority cannot spare a question, %s", h.LevelAuthority(), h.LevelPos()))
		return
	}
	w.keep(string(w.level))
	profile := standardProfile
	if len(w.Confine) > 0 {
		profile = w.Confine[0].Profile
	}
	w.Confine = slices.Clone(w.Confine)
	for _, r := range w.Reasons {
		if r.Effect == hook.Ask {
			asked := attributed(h.Hook, r)
			w.Confine = append(w.Confine, hook.Confinement{Profile: profile, Reason: r.Reason, Asked: &asked})
		}
	}
	w.Reasons = slices.DeleteFunc(slices.Clone(w.Reasons), func(r hook.Reason) bool { return r.Effect == hook.Ask })
	w.ignored = append(w.ignored, because(hook.Ask))
}

// standardProfile is the one by which the level confine has calls run, where the policy
// has no rule that names another.
const standardProfile = "project"

// keep remembers the answer before the first thing is taken from it, and what takes
// it.
func (w *weighed) keep(why string) {
	if w.would == nil {
		v := w.Verdict
		w.would, w.spared = &v, why
	}
}

// capped returns reasons and halts as reasons of at most an effect.
func capped(reasons, halt []hook.Reason, most hook.Effect) []hook.Reason {
	out := make([]hook.Reason, 0, len(reasons)+len(halt))
	for _, r := range reasons {
		r.Effect = min(r.Effect, most)
		out = append(out, r)
	}
	for _, r := range halt {
		r.Effect = most
		out = append(out, r)
	}
	return out
}

// approved looks for a person's approval of what is still asked, and takes the
// asks out of the steps if there is one.
func (c *call) approved(d *hook.Decision) bool {
	if c.approvals == nil || c.fault != nil {
		return false
	}
	type answer struct {
		grant string
		ok    bool
	}
	ev, seen := c.came, *d
	seen.ID, seen.Event, seen.Tool = c.id, ev.Name, ev.Tool()
	seen.Steps, seen.Reasons = slices.Clone(d.Steps), slices.Clone(d.Reasons)
	a, fault := guard(c.ctx, c.inline, func() answer {
		grant, ok := c.approvals(c.ctx, &ev, &seen)
		return answer{grant, ok}
	})
	if fault != nil {
		c.notice("approvals could not be looked up: " + fault.Error())
		return false
	}
	if !a.ok {
		return false
	}
	for i := range c.steps {
		s := &c.steps[i]
		if s.Effect != hook.Ask {
			continue
		}
		w := weighed{Verdict: s.Verdict, would: s.Would, spared: s.Spared}
		w.keep(sparedByApproval)
		s.Would, s.Spared = w.would, w.spared
		s.Verdict.Reasons = slices.DeleteFunc(slices.Clone(s.Verdict.Reasons), func(r hook.Reason) bool { return r.Effect == hook.Ask })
		s.Effect = s.Verdict.Effect()
		s.Outcome = verdict.Outcome(&s.Verdict, s.Fault, s.Effect)
		s.Ignored = append(slices.Clone(s.Ignored), "ask: approved, "+a.grant)
	}
	c.notice("approved: " + a.grant)
	return true
}
