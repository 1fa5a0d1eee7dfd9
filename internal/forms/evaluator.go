package forms

import (
	"context"

	"gate/engine"
	"gate/hook"
)

// An Evaluator asks plans, and OPA about policies that no plan holds.
type Evaluator struct {
	Left  func(*hook.Hook) bool // to OPA: see [Forms.Left]
	Plans engine.Evaluator
	OPA   engine.Evaluator // from what [Forms.Saved] returns
}

// Evaluate implements [engine.Evaluator].
func (e *Evaluator) Evaluate(ctx context.Context, hooks []*hook.Hook, ev *hook.Event) []engine.Answer {
	answers := make([]engine.Answer, len(hooks))
	Ask(ctx, e.Plans, hooks, ev, answers, func(i int) bool { return !e.Left(hooks[i]) })
	Ask(ctx, e.OPA, hooks, ev, answers, func(i int) bool { return e.Left(hooks[i]) })
	return answers
}

// Ask has an evaluator answer in place of those hooks that are wanted, by their
// index.
func Ask(ctx context.Context, e engine.Evaluator, hooks []*hook.Hook, ev *hook.Event, answers []engine.Answer, wanted func(i int) bool) {
	var some []*hook.Hook
	var at []int
	for i, h := range hooks {
		if wanted(i) {
			some, at = append(some, h), append(at, i)
		}
	}
	if len(some) == 0 {
		return
	}
	for i, a := range e.Evaluate(ctx, some, ev) {
		answers[at[i]] = a
	}
}
