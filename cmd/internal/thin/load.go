package thin

import (
	"context"
	"errors"

	"gate/adapters"
	"gate/cmd/internal/early"
	"gate/engine"
	"gate/hook"
	"gate/internal/core"
	"gate/internal/forms"
	"gate/internal/hookpath"
	"gate/internal/plan"
	"gate/matcher"
	"gate/scopes"
)

// load sets gate up for one call, from the compiled forms of the places that gate
// hook reads. Its errors are for nobody to see: another program is asked.
func load(c *hookpath.Call) (*core.Gate, error) {
	if c.Batch {
		return nil, errors.New("hooks that ask a model are faults there")
	}
	if c.Scope != "" {
		return nil, errors.New("gate install's knowledge of the agent's settings is wanted")
	}
	found, err := forms.Begin(c.Machine, c.Event, false, early.Processors)
	if err != nil {
		return nil, err
	}
	if len(found.Schemas) > 0 {
		return nil, errors.New("a bundle brings schemas of tools, which rewrites are held against")
	}
	return core.New(&found.Found, c.Machine, nil, func(g *core.Gate) ([]engine.Option, engine.Evaluator, error) {
		if err := backtracks(g.Set.Sources()); err != nil {
			return nil, nil, err
		}
		if takesOPA(g.Set, c.Event, found.Left) {
			return nil, nil, errLeft
		}
		g.Holds = found.Fresh
		plans, err := found.Plans(g.Set.Sources())
		policies := &giveUp{plans: plan.NewEvaluator(plans), left: found.Left}
		return []engine.Option{engine.WithInline(), engine.WithEvaluator(hook.Rego, policies), engine.WithValidator(adapters.CheckInput)}, nil, err
	})
}

// takesOPA reports, before the trouble of looking into an event, that a policy which
// is left to OPA will be asked about it, unless another one denies first. Most
// calls pass: who waits for that one to see loses time with nearly all of them.
func takesOPA(set *scopes.Set, ev *hook.Event, left func(*hook.Hook) bool) bool {
	for _, tier := range set.For(ev.Name) {
		for _, b := range tier {
			if left(b.Hook) && len(b.If) == 0 && b.Match(ev) != matcher.No {
				return true
			}
		}
	}
	return false
}

// backtracks returns the fault of a source that has none but for the lack of a
// [matcher.Backtracker], which is too large for this program.
func backtracks(sources []*scopes.Source) error {
	for _, src := range sources {
		for i := range src.Faults {
			if errors.Is(&src.Faults[i], matcher.ErrBacktracks) {
				return &src.Faults[i]
			}
		}
	}
	return nil
}

// A giveUp evaluator asks nothing more about an event once it is certain that
// another program has to decide about it.
type giveUp struct {
	plans engine.Evaluator
	left  func(*hook.Hook) bool
	why   *hook.Fault
}

var errLeft = errors.New("a policy takes OPA")

// Evaluate answers, or has a fault for each hook.
func (g *giveUp) Evaluate(ctx context.Context, hooks []*hook.Hook, ev *hook.Event) []engine.Answer {
	for _, h := range hooks {
		if g.why == nil && g.left(h) {
			g.why = &hook.Fault{Kind: hook.FaultLoad, Err: errLeft}
		}
	}
	if g.why == nil {
		return g.plans.Evaluate(ctx, hooks, ev)
	}
	answers := make([]engine.Answer, len(hooks))
	for i := range answers {
		answers[i].Fault = g.why
	}
	return answers
}
