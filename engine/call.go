package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"gate/hook"
	"gate/matcher"
	"gate/scopes"
)

// A call is one Decide under way.
type call struct {
	*Engine
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
	fault    *hook.Fault // gate itself could not decide
}

// A due hook is one that has to run now.
type due struct {
	*scopes.Bound
	unsure bool // it matched only perhaps
	again  bool // it ran before, on other input
}

func (e *Engine) call(ctx context.Context, ev hook.Event) *call {
	c := &call{Engine: e, ctx: ctx, ev: ev, ran: map[*scopes.Bound]int{}, excepted: map[*scopes.Bound]bool{}}
	if c.ev.Gate.Now.IsZero() {
		c.ev.Gate.Now = e.now()
	}
	if c.ev.Facts == nil {
		c.refreshFacts()
	}
	c.came = c.ev
	if off := e.set.Off(); off != "" {
		c.notice(off)
	}
	return c
}

// refreshFacts works out the facts of the event as it is now. Facts that
// cannot be had are opaque ones.
func (c *call) refreshFacts() {
	why := "nobody looked into the event"
	if c.facts != nil {
		ev := c.ev
		facts, fault := guard(c.ctx, c.inline, func() *hook.Facts { return c.facts(&ev) })
		if fault == nil && facts != nil {
			c.ev.Facts = facts
			return
		}
		why = "the event could not be looked into"
		c.fail(fault)
	}
	c.ev.Facts = &hook.Facts{Opaque: true, Unknown: []hook.Unknown{{Kind: "limit", Why: why}}}
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
// gate cannot go on. After
// the fact a Reject stops nothing, and must not keep a higher scope's redaction
// from running.
func (c *call) rejected() bool {
	return c.fault != nil || c.effect == hook.Deny && !c.allSteps && !c.afterTheFact()
}

func (c *call) afterTheFact() bool { return c.ev.Name.Rewrites() == "tool_response" }

// due returns the hooks of a tier that match the event as it is now and did
// not judge it yet.
func (c *call) due(tier scopes.Tier) []due {
	var out []due
	for _, b := range tier {
		again := false
		if since, ran := c.ran[b]; ran {
			if again = (b.Rechecks() || c.excepted[b]) && c.changedSince(since, b.Hook); !again {
				continue
			}
		}
		t := b.Match(&c.ev)
		if t == matcher.No || c.over(b) {
			continue
		}
		if b.Kind != hook.Rego && b.Kind != hook.Inline && !b.Source.Runs() {
			c.untrusted("handlers", b.Source)
			continue
		}
		out = append(out, due{b, t == matcher.Unsure, again})
	}
	return out
}

// over reports a hook that runs once in a session and did.
func (c *call) over(b *scopes.Bound) bool { return b.Once && c.done != nil && c.done(&c.came, b.Hook) }

// run runs what is due of a tier: together, on the same input. Then it runs
// the handlers that the tier's policies consult.
func (c *call) run(tier scopes.Tier) {
	if c.rejected() {
		return
	}
	hooks := c.due(tier)
	if len(hooks) == 0 {
		return
	}
	if fault := overdue(c.ctx); fault != nil {
		c.fail(fault) // no time even to begin
		return
	}
	hooks, verdicts := c.ask(hooks)
	c.rewrite(hooks, verdicts)
	for i, v := range verdicts {
		for _, consult := range v.Consults {
			if !c.rejected() {
				c.consult(hooks[i].Bound, consult)
			}
		}
	}
}

// ask runs hooks on the same input and records their steps. It returns those that
// there is more to do for, which rewrite or consult, with what counts of their
// verdicts.
func (c *call) ask(hooks []due) (active []due, verdicts []hook.Verdict) {
	if len(c.ran) == 0 {
		c.ran = make(map[*scopes.Bound]int, len(hooks)) // growing takes longer, and so does the list of steps
	}
	c.steps = slices.Grow(c.steps, len(hooks))
	for _, h := range hooks {
		c.ran[h.Bound] = len(c.changes)
	}
	answers := c.evaluate(hooks)
	for i, h := range hooks {
		w := c.counts(h, answers[i])
		if len(w.Rewrites)+len(w.Consults) > 0 {
			active, verdicts = append(active, h), append(verdicts, w.Verdict)
		}
		c.record(h.Hook, w, answers[i])
		if unheard(h, answers[i].Fault) {
			c.fail(hook.Faultf(hook.FaultTimeout, "no time was left for %s", h.ID))
		}
	}
	return active, verdicts
}

// unheard reports a policy of the administrator, the product or the user that
// the deadline of the whole call cut. That is no fault of the policy: whatever
// came before it, such as a slow policy of a project, took its time, and what
// stands lower must not silence it.
func unheard(h due, f *hook.Fault) bool {
	return f != nil && h.Kind == hook.Rego && h.Authority.MayAllow() && h.Level().Cap(hook.Deny) > hook.Pass &&
		errors.Is(f, context.DeadlineExceeded)
}

// evaluate answers policies with one call, and handlers side by side: a tier
// holds several of them only where nothing can be rewritten.
func (c *call) evaluate(hooks []due) []Answer {
	if hooks[0].Kind == hook.Rego || len(hooks) == 1 {
		return c.evaluateOne(hooks)
	}
	answers := make([]Answer, len(hooks))
	var wg sync.WaitGroup
	for i := range hooks {
		wg.Go(func() { answers[i] = c.evaluateOne(hooks[i : i+1])[0] })
	}
	wg.Wait()
	return answers
}

func (c *call) evaluateOne(hooks []due) []Answer {
	start := c.now()
	list := make([]*hook.Hook, len(hooks))
	for i, h := range hooks {
		list[i] = h.Hook
	}
	answers, fault := c.guarded(list)
	if fault == nil && len(answers) != len(list) {
		fault = hook.Faultf(hook.FaultInternal, "%d answers for %d hooks", len(answers), len(list))
	}
	if fault != nil {
		answers = slices.Repeat([]Answer{{Fault: fault}}, len(list))
	}
	took := c.now().Sub(start)
	for i := range answers {
		if answers[i].Took == 0 {
			answers[i].Took = took
		}
	}
	return answers
}

func (c *call) guarded(list []*hook.Hook) ([]Answer, *hook.Fault) {
	evaluator := c.evaluators[list[0].Kind]
	if evaluator == nil {
		return nil, hook.Faultf(hook.FaultInternal, "nothing here runs hooks of kind %s", list[0].Kind)
	}
	ctx := c.ctx
	if own := list[0].Timeout; list[0].Kind != hook.Rego && own > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, own)
		defer cancel()
	}
	ev := c.ev
	return guard(ctx, c.inline, func() []Answer { return evaluator.Evaluate(ctx, list, &ev) })
}

// record adds a step and what it means for the decision.
func (c *call) record(h *hook.Hook, w weighed, a Answer) {
	s := hook.Step{
		Hook: h, Verdict: w.Verdict, Effect: w.Effect(), Outcome: hook.Success,
		Fault: a.Fault, Ignored: w.ignored, Level: string(w.level), Would: w.would, Usage: a.Usage, Took: a.Took, Round: c.round,
	}
	if a.Fault != nil {
		s.Outcome = hook.NonBlockingError
		if !h.Observes(c.ev.Name) {
			s.Effect = max(s.Effect, w.level.Cap(faultEffect(h, a.Fault)))
		}
	}
	switch {
	case a.Fault != nil && cancelled(h, a.Fault):
		s.Outcome = hook.Cancelled
	case s.Effect >= hook.Ask:
		s.Outcome = hook.Blocking
	}
	c.effect = max(c.effect, s.Effect)
	c.steps = append(c.steps, s)
}

// cancelled reports a hook that was stopped before it answered. An agent that
// runs out of time or turns is: it was at work, not broken. So is every hook
// of cocode, which has that outcome for time-outs.
func cancelled(h *hook.Hook, f *hook.Fault) bool {
	return errors.Is(f, context.Canceled) || f.Kind == hook.FaultTimeout && (h.Kind == hook.Agent || h.Dialect == hook.Cocode)
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

// notice adds a text for the person, once.
func (c *call) notice(text string) {
	if !slices.Contains(c.notices, text) {
		c.notices = append(c.notices, text)
	}
}

// consult runs the handler that a policy asked for, for this call only.
func (c *call) consult(by *scopes.Bound, want hook.Consult) {
	b := c.set.Handler(by.Source, want.Hook)
	if b == nil {
		fault := hook.Faultf(hook.FaultLoad, "it consults %q, and there is no such handler in its source or in Policy scope", want.Hook)
		c.record(by.Hook, weighed{level: by.Level()}, Answer{Fault: fault})
		return
	}
	if b.Level() == scopes.LevelOff || c.over(b) {
		return
	}
	since, ran := c.ran[b]
	if ran && !c.changedSince(since, b.Hook) {
		return // it has judged this very input
	}
	hooks := []due{{Bound: b, again: ran}}
	c.rewrite(c.ask(hooks))
}

// decision concludes the call.
func (c *call) decision() hook.Decision {
	if errors.Is(c.ctx.Err(), context.Canceled) {
		c.fail(overdue(c.ctx)) // half a judgement is none
	}
	d := c.conclude()
	if d.Effect == hook.Ask && c.approved(&d) {
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
