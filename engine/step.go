package engine

import (
	"fmt"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/setting"
	"gate/internal/verdict"
)

// record adds a step and what it means for the decision.
func (c *call) record(h *hook.Hook, w weighed, a Answer) {
	w.Reasons, w.Halt = c.asChanged(h, w.Reasons), c.asChanged(h, w.Halt)
	s := hook.Step{
		Hook: h, Verdict: w.Verdict, Effect: w.Effect(),
		Fault: a.Fault, Ignored: w.ignored, Level: string(w.level), Would: w.would, Spared: w.spared, Usage: a.Usage, Took: a.Took, Round: c.round,
	}
	if a.Fault != nil {
		s.Remedy = remedy(h, a.Fault)
	}
	if a.Fault != nil && !h.Observes(c.ev.Name) {
		s.Effect = max(s.Effect, w.level.Cap(faultEffect(h, a.Fault)))
	}
	s.Outcome = verdict.Outcome(&s.Verdict, a.Fault, s.Effect)
	c.effect = max(c.effect, s.Effect)
	c.steps = append(c.steps, s)
}

// remedy says what repairs a fault of a hook, for the person: a command, or whose turn
// it is where no command repairs anything.
func remedy(h *hook.Hook, f *hook.Fault) string {
	switch {
	case f.Kind != hook.FaultLoad || h.Library:
		return "gate doctor --fix"
	case h.Authority == hook.Managed:
		return "the administrator corrects the file, or publishes a corrected release"
	}
	return "correct the file; gate check lists every mistake"
}

// asChanged has reasons about a rewritten call say so, with what was made of it:
// whoever reads them has sent something else.
func (c *call) asChanged(h *hook.Hook, reasons []hook.Reason) []hook.Reason {
	if c.round == 0 || len(c.changes) == 0 || c.ev.Name.Rewrites() != "tool_input" {
		return reasons
	}
	ids := []string{}
	for _, ch := range c.changes {
		if !slices.Contains(ids, ch.by.ID) {
			ids = append(ids, ch.by.ID)
		}
	}
	was, is := shown(c.changes[0].Before), shown(c.changes[len(c.changes)-1].After)
	reasons = slices.Clone(reasons)
	for i := range reasons {
		if r := &reasons[i]; r.Effect == hook.Deny && is != was && is != "" && !c.saidBefore(h, r.Reason) {
			r.Reason += fmt.Sprintf("; this is about what %s made of the call: %s", strings.Join(ids, " and "), is)
		}
	}
	return reasons
}

// saidBefore reports that a hook gave the reason in an earlier round.
func (c *call) saidBefore(h *hook.Hook, reason string) bool {
	same := func(r hook.Reason) bool { return r.Reason == reason }
	return slices.ContainsFunc(c.steps, func(s hook.Step) bool {
		return s.Hook == h && (slices.ContainsFunc(s.Verdict.Reasons, same) || slices.ContainsFunc(s.Verdict.Halt, same))
	})
}

// shown is the line of an input, "" where it has none.
func shown(input any) string {
	object, _ := input.(map[string]any)
	text, _ := object["command"].(string)
	if r := []rune(text); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return text
}

// maxShown is how much of a rewritten line a reason shows.
const maxShown = 300

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
				ID: src.Name, Kind: hook.Rego, Title: src.Called(), Whole: src.Called(),
				Scope: src.Scope, Authority: src.Authority, Library: src.Library, Source: src.Name,
			}
			var w weighed
			switch {
			case src.Closes():
				h.OnFault = hook.FaultDeny
			case src.Bundle != nil && src.Bundle.Trial: // managed as it is, nothing follows from it
				w.level = setting.LevelRecord
				fallthrough
			default:
				c.notice(h.Title + setting.LeftOut + src.Faults[i].Error())
			}
			c.record(h, w, Answer{Fault: &src.Faults[i]})
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
