package thin

import (
	"context"
	"errors"

	"gate/adapters"
	"gate/cmd/internal/early"
	"gate/engine"
	"gate/engine/plan"
	"gate/hook"
	"gate/internal/core"
	"gate/internal/forms"
	"gate/internal/hookpath"
	"gate/matcher"
	"gate/scopes"
)

// load sets gate up for one call, from the compiled forms of the places that gate
// hook reads. Its errors are for nobody to see: another program is asked.
func (a *answer) load(c *hookpath.Call) (*core.Gate, error) {
	if c.Batch {
		return nil, errors.New("hooks that ask a model are faults there")
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
		if a.OPA == nil && takesOPA(g.Set, c.Event, found.Left) {
			a.next = gateRego
			return nil, nil, errLeft
		}
		g.Holds = found.Fresh
		policies, err := a.policies(g, found, c.OutOfMemory)
		return []engine.Option{engine.WithInline(), engine.WithEvaluator(hook.Rego, policies), engine.WithValidator(adapters.CheckInput)}, nil, err
	})
}

// policies returns what asks the policies of forms.
func (a *answer) policies(g *core.Gate, found *forms.Forms, outOfMemory func()) (engine.Evaluator, error) {
	sources, err := found.Plans(g.Set.Sources())
	if err != nil {
		return nil, err
	}
	plans := plan.NewEvaluator(sources)
	if a.OPA == nil {
		return &giveUp{answer: a, plans: plans, left: found.Left}, nil
	}
	saved, err := found.Saved(g.Set.Sources())
	if err != nil {
		return nil, err
	}
	return &forms.Evaluator{Left: found.Left, Plans: plans, OPA: a.OPA(g.InForce(), saved, outOfMemory)}, nil
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
	*answer
	plans engine.Evaluator
	left  func(*hook.Hook) bool
	why   *hook.Fault
}

var errLeft = errors.New("it takes OPA")

// Evaluate answers, or has a fault for each hook.
func (g *giveUp) Evaluate(ctx context.Context, hooks []*hook.Hook, ev *hook.Event) []engine.Answer {
	for _, h := range hooks {
		if g.why == nil && g.left(h) {
			g.why, g.next = &hook.Fault{Kind: hook.FaultLoad, Err: errLeft}, gateRego
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
