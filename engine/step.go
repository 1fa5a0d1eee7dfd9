package engine

import (
	"fmt"

	"gate/hook"
)

// record adds a step and what it means for the decision.
func (c *call) record(h *hook.Hook, w weighed, a Answer) {
	s := hook.Step{
		Hook: h, Verdict: w.Verdict, Effect: w.Effect(),
		Fault: a.Fault, Ignored: w.ignored, Level: string(w.level), Would: w.would, Usage: a.Usage, Took: a.Took, Round: c.round,
	}
	if a.Fault != nil && !h.Observes(c.ev.Name) {
		s.Effect = max(s.Effect, w.level.Cap(faultEffect(h, a.Fault)))
	}
	s.Outcome = hook.OutcomeOf(&s.Verdict, a.Fault, s.Effect)
	c.effect = max(c.effect, s.Effect)
	c.steps = append(c.steps, s)
}

// fail records that gate itself cannot go on, unless fault is nil. That
// closes: it must not depend on which hooks would have been run.
func (c *call) fail(fault *hook.Fault) {
	if fault == nil || c.fault != nil {
		return
	}
	c.fault = fault
	c.record(own("gate"), weighed{}, Answer{Fault: fault})
}

// brokenSources records the sources that could not be loaded as a whole.
// Those of managed, library and user authority close every event.
func (c *call) brokenSources() {
	for _, src := range c.set.Sources() {
		for i := range src.Faults {
			h := &hook.Hook{
				ID: src.Name, Kind: hook.Rego, Title: "loading of " + src.Name,
				Scope: src.Scope, Authority: src.Authority, Library: src.Library, Source: src.Name,
			}
			if src.Closes() {
				h.OnFault = hook.FaultDeny
			} else {
				c.notice(fmt.Sprintf("%s could not be loaded and is inactive: %s", src.Name, src.Faults[i].Error()))
			}
			c.record(h, weighed{}, Answer{Fault: &src.Faults[i]})
		}
	}
}

// reject records that gate itself refuses what the hooks made of the call. The
// output of a tool is there already, and holds what somebody wanted changed: a
// denial would leave it with the agent, so the turn ends.
func (c *call) reject(reason string) {
	refusal := []hook.Reason{{Effect: hook.Deny, Reason: reason}}
	v := hook.Verdict{Reasons: refusal}
	if c.afterTheFact() {
		v = hook.Verdict{Halt: refusal}
	}
	c.record(own("gate.rewrite"), weighed{Verdict: v}, Answer{})
}
