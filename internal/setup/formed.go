package setup

import (
	"context"
	"errors"
	"sync"

	"gate/engine"
	"gate/hook"
	"gate/internal/backtracking"
	"gate/internal/core"
	"gate/internal/forms"
	"gate/internal/plan"
	"gate/internal/rego"
	"gate/internal/sources"
	"gate/policies"
)

// FromForms sets gate up for one call from the compiled forms of the places that
// hooks and settings come from. An error, which nobody sees, says why the files
// have to be read.
func FromForms(s Options) (*Gate, error) {
	switch known := s.Session.Known; {
	case s.Event.Name.Canonical() == hook.SessionStart:
		return nil, errors.New("people are told what is in the files")
	case known != nil && core.Listens(known, s.Event):
		return nil, errors.New("hooks are registered in the session, which stand in no form")
	}
	found, err := forms.Open(s.machine(), s.Event, true)
	if err != nil {
		return nil, err
	}
	return s.gate(sources.Loaded{Found: found.Found, Schemas: found.Schemas}, found)
}

// A formed evaluator asks what was compiled, and about whatever goes wrong there
// the policies as the files have them.
type formed struct {
	forms.Evaluator
	files func() engine.Evaluator // which are not read before; nil: they cannot be
}

// formed returns the evaluator of policies that forms hold.
func (g *Gate) formed(s Options) (engine.Evaluator, error) {
	found := g.forms
	plans, err := found.Plans(g.Set.Sources())
	if err != nil {
		return nil, err
	}
	saved, err := found.Saved(g.Set.Sources())
	if err != nil {
		return nil, err
	}
	opa := rego.New(nil, g.InForce(), append([]rego.Option{rego.WithSaved(saved)}, s.Rego...)...)
	return &formed{
		Evaluator: forms.Evaluator{Left: found.Left, Plans: plan.NewEvaluator(plans), OPA: opa},
		files:     sync.OnceValue(s.policiesOfFiles),
	}, nil
}

// policiesOfFiles evaluates the policies as the files have them.
func (s Options) policiesOfFiles() engine.Evaluator {
	l := sources.Load(s.For)
	g, err := core.New(&l.Found, s.machine(), backtracking.Compile, nil)
	if err != nil {
		return nil
	}
	return rego.New(l.Lib, g.InForce(), append([]rego.Option{rego.WithSnapshot(policies.Snapshot())}, s.Rego...)...)
}

// Evaluate implements [engine.Evaluator].
func (f *formed) Evaluate(ctx context.Context, hooks []*hook.Hook, ev *hook.Event) []engine.Answer {
	answers := f.Evaluator.Evaluate(ctx, hooks, ev)
	unsure := func(i int) bool {
		fault := answers[i].Fault
		return fault != nil && (!f.Left(hooks[i]) || errors.Is(fault, rego.ErrSaved))
	}
	for i := range hooks {
		if !unsure(i) || ctx.Err() != nil {
			continue
		}
		if files := f.files(); files != nil {
			forms.Ask(ctx, files, hooks, ev, answers, unsure)
		}
		break
	}
	return answers
}
