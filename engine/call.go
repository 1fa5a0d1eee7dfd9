package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"gate/hook"
	"gate/scopes"
)

// A call is one Decide under way.
type call struct {
	*Engine
	id       string // of the decision
	ctx      context.Context
	came     hook.Event // as it came
	ev       hook.Event // as rewritten so far
	round    int
	steps    []hook.Step
	changes  []change
	ran      map[*scopes.Bound]int  // how many changes there were when it last ran
	excepted map[*scopes.Bound]bool // an exception counted: for that input only
	notices  []string
	effect   hook.Effect
	fault    *hook.Fault   // gate itself could not decide
	trial    time.Duration // that what is on trial may still take
}

func (e *Engine) call(ctx context.Context, ev hook.Event) *call {
	c := &call{Engine: e, ctx: ctx, ev: ev, ran: map[*scopes.Bound]int{}, excepted: map[*scopes.Bound]bool{}, trial: trialTime(ctx)}
	if c.ev.Gate.Now.IsZero() {
		c.ev.Gate.Now = e.now()
	}
	if c.ev.Facts == nil {
		c.refreshFacts()
	}
	if recall := c.ev.Recall; recall != nil {
		c.ev.Recall = nil
		c.recall(recall)
	}
	c.came = c.ev
	if off := e.set.Off(); off != "" {
		c.notice(off)
	}
	return c
}

// recall gives the event what is remembered of its session.
func (c *call) recall(recall func(*hook.Event) *hook.Fault) {
	ev := c.ev
	fault, late := guard(c.ctx, c.inline, func() *hook.Fault { return recall(&ev) })
	if late != nil {
		c.fail(late)
		return
	}
	c.fail(fault)
	c.ev.Memory, c.ev.Marks = ev.Memory, ev.Marks
}

// refreshFacts works out the facts of the event as it is now. Facts that
// cannot be had are opaque ones.
func (c *call) refreshFacts() {
	why := "nobody looked into the event"
	if c.facts != nil {
		ev := c.ev
		facts, fault := guard(c.ctx, c.inline, func() *hook.Facts { return c.facts(&ev) })
		if fault == nil && facts != nil {
			if facts.Confined != c.ev.Confined {
				own := *facts
				own.Confined = c.ev.Confined
				facts = &own
			}
			c.ev.Facts = facts
			return
		}
		why = "the event could not be looked into"
		c.fail(fault)
	}
	c.ev.Facts = &hook.Facts{Opaque: true, Unknown: []hook.Unknown{{Kind: "limit", Why: why}}}
}

// settled reports that nothing is left to be judged again.
func (c *call) settled() bool {
	if c.rejected() || len(c.changes) == 0 {
		return true
	}
	for _, tier := range c.set.For(c.ev.Name) {
		if len(c.due(tier)) > 0 {
			return false
		}
	}
	return true
}

// rejected reports that the answer is known and nobody asked for more, or that
// gate cannot go on. After the fact a Reject stops nothing, and must not keep a
// higher scope's redaction from running.
func (c *call) rejected() bool {
	return c.fault != nil || c.effect == hook.Deny && !c.allSteps && !c.afterTheFact()
}

func (c *call) afterTheFact() bool { return c.ev.Name.Rewrites() == "tool_response" }

// decision concludes the call.
func (c *call) decision() hook.Decision {
	if errors.Is(c.ctx.Err(), context.Canceled) {
		c.fail(overdue(c.ctx)) // half a judgement is none
	}
	d := c.conclude()
	if d.Effect == hook.Ask && c.approved(&d) {
		d = c.conclude()
		d.Approved = true
	}
	if !c.keep(&d) {
		d = c.conclude()
	}
	return d
}

// conclude combines the steps with what else is known of the call.
func (c *call) conclude() hook.Decision {
	d := Combine(c.steps)
	d.Facts, d.Notices, d.Fault = c.ev.Facts, c.notices, c.fault
	for _, ch := range c.changes {
		d.Changes = append(d.Changes, ch.Change)
	}
	if d.Effect < hook.Deny || c.afterTheFact() {
		d.Remember = remembered(c.steps)
	}
	if len(c.changes) == 0 {
		return d
	}
	switch field := c.ev.Name.Rewrites(); {
	case c.afterTheFact():
		d.Output = c.ev.Fields[field]
	case d.Effect < hook.Deny:
		d.Rewrite = c.ev.Fields[field]
	}
	return d
}

// notice adds a text for the person, once.
func (c *call) notice(text string) {
	if !slices.Contains(c.notices, text) {
		c.notices = append(c.notices, text)
	}
}
