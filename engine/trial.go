package engine

import (
	"context"
	"slices"
	"time"

	"gate/hook"
	"gate/scopes"
)

// trialLimit is the time that all of what is on trial may take of one decision: where less
// than ten times that is left for it, a tenth of what is left. What has not answered by then
// is a fault of the trial, from which nothing follows.
const trialLimit = 200 * time.Millisecond

// onTrial reports a tier that has hooks on trial.
func onTrial(tier scopes.Tier) bool {
	return slices.ContainsFunc(tier, func(b *scopes.Bound) bool { return b.Source.Bundle != nil && b.Source.Bundle.Trial })
}

// trialTime is what trials may take of a decision that must end with ctx.
func trialTime(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return trialLimit
	}
	return min(trialLimit, time.Until(deadline)/10)
}

// askTrial asks hooks that are on trial, in what is left of their time.
func (c *call) askTrial(hooks []due) []Answer {
	if len(hooks) == 0 {
		return nil
	}
	if c.trial <= 0 {
		return slices.Repeat([]Answer{{Fault: hook.Faultf(hook.FaultTimeout, "no time is left for what is on trial")}}, len(hooks))
	}
	start := time.Now()
	ctx, cancel := context.WithTimeout(c.ctx, c.trial)
	defer cancel()
	answers := c.evaluateAll(ctx, hooks)
	c.trial -= time.Since(start)
	return answers
}

// beside asks handlers, and beside them those that are on trial. When the former have
// answered, the latter have what is left of their time.
func (c *call) beside(counting, trial []due) (counted, others []Answer) {
	if len(counting) == 0 {
		return nil, c.askTrial(trial)
	}
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	done := make(chan []Answer, 1)
	go func() { done <- c.evaluateAll(ctx, trial) }()
	counted = c.evaluateAll(c.ctx, counting)
	start := time.Now()
	timer := time.AfterFunc(max(c.trial, 0), cancel)
	defer timer.Stop()
	others = <-done // soon: whatever does not end with its context is left behind
	c.trial -= time.Since(start)
	return counted, others
}
