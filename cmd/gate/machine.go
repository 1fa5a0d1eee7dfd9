package main

import (
	"errors"

	"gate/adapters"
	"gate/cmd/internal/hookpath"
	"gate/cmd/internal/places"
	"gate/engine"
	"gate/engine/handlers"
	"gate/engine/rego"
	"gate/facts"
	"gate/hook"
	"gate/matcher/backtracking"
	"gate/policies"
)

// A guard is gate set up from the files that hooks and settings come from.
type guard struct {
	*hookpath.Guard
	loaded   *loaded
	setting  setting
	rego     *rego.Evaluator    // nil where policies are not asked from their text
	handlers *handlers.Handlers // nil where handlers are not run
}

// A setting is what a guard is built from.
type setting struct {
	dirs
	home        string // what "~" means to the agent's shell
	project     string
	env         func(string) (string, bool)
	rego        []rego.Option
	engine      []engine.Option
	files       facts.Files             // nil: the machine's
	envFile     string                  // whose lines the agent's shell runs, "" if there is none
	supervisor  []string                // how a supervisor of handlers is started
	batch       bool                    // nobody waits at a terminal: hooks that ask a model are not run
	progress    func(handlers.Progress) // is told what handlers do; nil: nobody is
	runHandlers bool                    // handlers are run, though no call is about to be made
	elsewhere   bool                    // the agent has another environment than env, which nobody knows
	foreign     bool                    // the agent does not run the hooks of plugins, skills and sub-agents itself
	session     *hookpath.Session       // of the event; nil: of none
	event       *hook.Event             // that is about to be judged; nil where session is
	live        bool                    // the calls are about to be made: approvals are looked for and used up
}

// machine is whom and what the guard is for.
func (s setting) machine() hookpath.Machine {
	m := hookpath.Machine{Dirs: s.dirs, Account: places.AccountName(), Home: s.home, Project: s.project, LookupEnv: s.env, Files: s.files}
	if s.elsewhere {
		m.LookupEnv = nil
	}
	return m
}

// newGuard loads settings and hooks and prepares the engine. An error means
// that settings contradict each other; no call may pass then.
func newGuard(s setting) (*guard, error) {
	l := loadSources(s)
	l.addRegistered(s)
	return s.guard(l)
}

// guard prepares the engine for what was loaded.
func (s setting) guard(l loaded) (*guard, error) {
	core, err := hookpath.New(&l.Found, s.machine(), backtracking.Compile)
	if err != nil {
		return nil, err
	}
	g := &guard{Guard: core, loaded: &l, setting: s}
	g.Beyond = g
	evaluator, err := g.policies(s)
	if err != nil {
		return nil, err
	}
	if s.live {
		g.useApprovals()
	}
	options := []engine.Option{engine.WithEvaluator(hook.Rego, evaluator), engine.WithValidator(g.checkInput)}
	options = append(options, g.runHandlers(s)...)
	return g, g.Start(append(options, s.engine...)...)
}

// policies returns what asks policies.
func (g *guard) policies(s setting) (engine.Evaluator, error) {
	if g.loaded.forms != nil {
		return g.formed(s)
	}
	options := s.rego
	if s.live { // who judges many calls compiles once: a snapshot is without the indices that pay then
		options = append([]rego.Option{rego.WithSnapshot(policies.Snapshot())}, s.rego...)
	}
	g.rego = rego.New(g.loaded.lib, g.InForce(), options...)
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
	return errors.Join(adapters.CheckInput(tool, input), g.loaded.schemas.Check(tool, input))
}

// Notes are what a person should know of a decision besides.
func (g *guard) Notes(ev *hook.Event, d *hook.Decision) (notices []string) {
	if ev.Name.Canonical() == hook.SessionStart {
		notices = append(g.untrusted(), g.unasked()...)
	}
	return append(notices, g.notRun(d)...)
}

// adapterFor finds an agent's adapter.
func adapterFor(agent string) (adapters.Adapter, error) {
	a, err := hookpath.Adapter(agent)
	if err != nil {
		return nil, usageError(err.Error())
	}
	return a, nil
}
