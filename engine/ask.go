package engine

import (
	"context"
	"errors"
	"slices"
	"sync"

	"gate/hook"
	"gate/internal/setting"
	"gate/internal/verdict"
	"gate/matcher"
	"gate/scopes"
)

// A due hook is one that has to run now.
type due struct {
	*scopes.Bound
	unsure bool // it matched only perhaps
	again  bool // it ran before, on other input
}

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
	rejected := c.rejected()
	if rejected && (c.fault != nil || !onTrial(tier)) {
		return
	}
	hooks := c.due(tier)
	if rejected { // the policies of a trial judge all that those of the release judge
		hooks = slices.DeleteFunc(hooks, func(h due) bool { return !h.tried() || h.Kind != hook.Rego })
	}
	if len(hooks) == 0 {
		return
	}
	if fault := overdue(c.ctx); fault != nil && !rejected {
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

// consult runs the handler that a policy asked for, for this call only.
func (c *call) consult(by *scopes.Bound, want hook.Consult) {
	b := c.set.Handler(by.Source, want.Hook)
	if b == nil {
		fault := hook.Faultf(hook.FaultLoad, "it consults %q, and there is no such handler in its source or in Policy scope", want.Hook)
		c.record(by.Hook, weighed{level: by.Level()}, Answer{Fault: fault})
		return
	}
	if b.Level() == setting.LevelOff || c.over(b) {
		return
	}
	since, ran := c.ran[b]
	if ran && !c.changedSince(since, b.Hook) {
		return // it has judged this very input
	}
	hooks := []due{{Bound: b, again: ran}}
	c.rewrite(c.ask(hooks))
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

// evaluate answers policies with one call, and handlers side by side. Each has its
// own time, whatever becomes of the others. What is on trial comes last, and has a time of
// its own.
func (c *call) evaluate(hooks []due) []Answer {
	tried := func(h due) bool { return h.tried() }
	if !slices.ContainsFunc(hooks, tried) {
		return c.evaluateAll(c.ctx, hooks)
	}
	counting := slices.DeleteFunc(slices.Clone(hooks), tried)
	trial := slices.DeleteFunc(slices.Clone(hooks), func(h due) bool { return !h.tried() })
	var counted, others []Answer
	if hooks[0].Kind == hook.Rego {
		counted, others = c.evaluateAll(c.ctx, counting), c.askTrial(trial)
	} else {
		counted, others = c.beside(counting, trial)
	}
	answers := make([]Answer, 0, len(hooks))
	for _, h := range hooks { // in their order
		from := &counted
		if h.tried() {
			from = &others
		}
		answers, *from = append(answers, (*from)[0]), (*from)[1:]
	}
	return answers
}

func (c *call) evaluateAll(ctx context.Context, hooks []due) []Answer {
	if len(hooks) == 0 {
		return nil
	}
	if hooks[0].Kind == hook.Rego || len(hooks) == 1 {
		return c.evaluateOne(ctx, hooks)
	}
	answers := make([]Answer, len(hooks))
	var wg sync.WaitGroup
	for i := range hooks {
		wg.Go(func() { answers[i] = c.evaluateOne(ctx, hooks[i:i+1])[0] })
	}
	wg.Wait()
	return answers
}

func (c *call) evaluateOne(ctx context.Context, hooks []due) []Answer {
	start := c.now()
	list := make([]*hook.Hook, len(hooks))
	for i, h := range hooks {
		list[i] = h.Hook
	}
	answers, fault := c.guarded(ctx, list)
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

func (c *call) guarded(ctx context.Context, list []*hook.Hook) ([]Answer, *hook.Fault) {
	evaluator := c.evaluators[list[0].Kind]
	if evaluator == nil {
		return nil, hook.Faultf(hook.FaultInternal, "nothing here runs hooks of kind %s", list[0].Kind)
	}
	if own := list[0].Timeout; list[0].Kind != hook.Rego && own > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, own)
		defer cancel()
	}
	ev := c.ev // which nobody but this evaluator may change
	return guard(ctx, c.inline, func() []Answer { return evaluator.Evaluate(ctx, list, verdict.SeenBy(list[0], &ev)) })
}
