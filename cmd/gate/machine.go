package main

import (
	"errors"

	"gate/adapters"
	"gate/cmd/internal/forms"
	"gate/cmd/internal/hookpath"
	"gate/cmd/internal/places"
	"gate/cmd/internal/sources"
	"gate/engine"
	"gate/engine/handlers"
	"gate/engine/rego"
	"gate/facts"
	"gate/hook"
	"gate/matcher/backtracking"
	"gate/policies"
	"gate/session"
)

// A guard is gate set up from the files that hooks and settings come from.
type guard struct {
	*hookpath.Guard
	loaded   *sources.Loaded
	forms    *forms.Forms // that it was set up from; nil: from files
	setting  setting
	rego     *rego.Evaluator    // nil where policies are not asked from their text
	handlers *handlers.Handlers // nil where handlers are not run
}

// A setting is what a guard is built from.
type setting struct {
	sources.For
	handling
	rego      []rego.Option
	engine    []engine.Option
	files     facts.Files // nil: the machine's
	elsewhere bool        // the agent has another environment than env, which nobody knows
}

// A handling says how handlers are run. The zero handling runs them for calls that
// are about to be made only.
type handling struct {
	run        bool                    // they are run though no call is about to be made
	supervisor []string                // how a supervisor of them is started; nil: it cannot be
	batch      bool                    // nobody waits at a terminal: hooks that ask a model are not run
	progress   func(handlers.Progress) // is told what they do; nil: nobody is
	envFile    string                  // whose lines the agent's shell runs, "" if there is none
}

// machine is whom and what the guard is for.
func (s setting) machine() hookpath.Machine {
	m := hookpath.Machine{Dirs: s.Dirs, Account: places.AccountName(), Home: s.Home, Project: s.Project, LookupEnv: s.Env, Files: s.files}
	if s.elsewhere {
		m.LookupEnv = nil
	}
	return m
}

// newGuard loads settings and hooks and prepares the engine. An error means
// that settings contradict each other; no call may pass then.
func newGuard(s setting) (*guard, error) {
	l := sources.Load(s.For)
	l.AddRegistered(s.For)
	return s.guard(l, nil)
}

// guard prepares the engine for what was loaded, from forms if these are not nil.
func (s setting) guard(l sources.Loaded, found *forms.Forms) (*guard, error) {
	core, err := hookpath.New(&l.Found, s.machine(), backtracking.Compile)
	if err != nil {
		return nil, err
	}
	g := &guard{Guard: core, loaded: &l, forms: found, setting: s}
	g.Beyond = g
	evaluator, err := g.policies(s)
	if err != nil {
		return nil, err
	}
	if s.Live {
		g.useApprovals()
	}
	options := []engine.Option{engine.WithEvaluator(hook.Rego, evaluator), engine.WithValidator(g.checkInput)}
	options = append(options, g.runHandlers(s)...)
	return g, g.Start(append(options, s.engine...)...)
}

// policies returns what asks policies.
func (g *guard) policies(s setting) (engine.Evaluator, error) {
	if g.forms != nil {
		return g.formed(s)
	}
	options := s.rego
	if s.Live { // who judges many calls compiles once: a snapshot is without the indices that pay then
		options = append([]rego.Option{rego.WithSnapshot(policies.Snapshot())}, s.rego...)
	}
	g.rego = rego.New(g.loaded.Lib, g.InForce(), options...)
	return g.rego, nil
}

// with returns the guard with another view of the machine.
func (g *guard) with(reader *facts.Reader) (*guard, error) {
	c, core := *g, *g.Guard
	c.Guard = &core
	c.Reader, c.Beyond = reader, &c
	var err error
	c.Engine, err = c.withoutHandlers()
	return &c, err
}

// forCall returns the guard for one call: see [hookpath.Guard.ForCall].
func (g *guard) forCall(s setting) (*guard, error) {
	c, l := *g, *g.loaded
	c.setting, c.loaded = s, &l
	var err error
	c.Guard, err = g.Guard.ForCall(&l.Found, &c)
	return &c, err
}

// checkInput holds a rewritten tool input against what is known of the tool.
func (g *guard) checkInput(tool string, input map[string]any) error {
	return errors.Join(adapters.CheckInput(tool, input), g.loaded.Schemas.Check(tool, input))
}

// Notes are what a person should know of a decision besides.
func (g *guard) Notes(ev *hook.Event, d *hook.Decision) (notices []string) {
	if ev.Name.Canonical() == hook.SessionStart {
		notices = append(g.untrusted(), g.unasked()...)
	}
	return append(notices, g.notRun(d)...)
}

// untrusted says which sources hold something that does not count because
// nobody trusted it.
func (g *guard) untrusted() []string {
	var notices []string
	for _, src := range g.Set.Sources() {
		notices = append(notices, sources.NotTrusted(src, g.Where[src.Name])...)
	}
	return notices
}

// Started finds the hooks of what an event starts.
func (g *guard) Started(kind session.Kind, name string, ev *hook.Event, d *hook.Decision) []session.Registration {
	return g.loaded.Started(g.setting.For, kind, name, ev, d)
}

// adapterFor finds an agent's adapter.
func adapterFor(agent string) (adapters.Adapter, error) {
	a, err := hookpath.Adapter(agent)
	if err != nil {
		return nil, usageError(err.Error())
	}
	return a, nil
}
