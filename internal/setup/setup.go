// Package setup sets gate up as the commands of gate have it: with all that package
// sources loads, OPA for policies, handlers, and a person's approvals.
//
// Package hookpath has what decides of it, which is all that gate-hook has; package
// guard, outside, is for programs that embed gate. Start with New; who answers many
// calls starts with NewKeeper.
package setup

import (
	"errors"
	"runtime/debug"

	"gate/adapters"
	"gate/engine"
	"gate/engine/handlers"
	"gate/engine/rego"
	"gate/facts"
	"gate/hook"
	"gate/internal/forms"
	"gate/internal/hookpath"
	"gate/internal/places"
	"gate/internal/sources"
	"gate/matcher/backtracking"
	"gate/policies"
	"gate/session"
)

// A Gate is gate set up for a project: a [hookpath.Guard], and what only this
// program asks.
type Gate struct {
	*hookpath.Guard
	Loaded *sources.Loaded // what it is made of
	Rego   *rego.Evaluator // nil where compiled forms are asked

	options  Options
	forms    *forms.Forms       // that it was set up from; nil: from files
	handlers *handlers.Handlers // nil where handlers are not run
}

// Options are what a Gate is set up by.
type Options struct {
	sources.For
	Handling
	Rego   []rego.Option
	Engine []engine.Option // the last word on what the engine is made of
	Files  facts.Files     // that facts look at; nil: the machine's

	elsewhere bool // the agent has another environment than Env, which nobody knows
}

// A Handling says how handlers are run. The zero Handling runs them only for calls
// that are about to be made.
type Handling struct {
	Run        bool                    // they are run though no call is about to be made
	Supervisor []string                // how a supervisor of them is started; nil: it cannot be
	Batch      bool                    // nobody waits at a terminal: hooks that ask a model are not run
	Progress   func(handlers.Progress) // is told what they do; nil: nobody is
	EnvFile    string                  // whose lines the agent's shell runs, "" if there is none
}

// Machine is whom and what the Gate is for.
func (s Options) Machine() hookpath.Machine {
	m := hookpath.Machine{Dirs: s.Dirs, Account: places.AccountName(), Home: s.Home, Project: s.Project, LookupEnv: s.Env, Files: s.Files}
	if s.elsewhere {
		m.LookupEnv = nil
	}
	return m
}

// New loads settings and hooks from their files and prepares the engine. An error
// means that settings contradict each other; no call may pass then.
func New(s Options) (*Gate, error) {
	l := sources.Load(s.For)
	l.AddRegistered(s.For)
	return s.gate(l, nil)
}

// Of sets gate up of what was loaded, such as of what might be loaded.
func Of(s Options, l sources.Loaded) (*Gate, error) { return s.gate(l, nil) }

// gate prepares the engine for what was loaded, from forms if these are not nil.
func (s Options) gate(l sources.Loaded, found *forms.Forms) (*Gate, error) {
	core, err := hookpath.New(&l.Found, s.Machine(), backtracking.Compile)
	if err != nil {
		return nil, err
	}
	g := &Gate{Guard: core, Loaded: &l, forms: found, options: s}
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
	return g, g.Start(append(options, s.Engine...)...)
}

// Compiled reports that it was set up from compiled forms, and no file was read that
// hooks come from.
func (g *Gate) Compiled() bool { return g.forms != nil }

// policies returns what asks policies.
func (g *Gate) policies(s Options) (engine.Evaluator, error) {
	if g.forms != nil {
		return g.formed(s)
	}
	options := s.Rego
	if s.Live { // who judges many calls compiles once: a snapshot is without the indices that pay then
		options = append([]rego.Option{rego.WithSnapshot(policies.Snapshot())}, s.Rego...)
	}
	g.Rego = rego.New(g.Loaded.Lib, g.InForce(), options...)
	return g.Rego, nil
}

// With returns the Gate with another view of the machine, and without handlers.
func (g *Gate) With(reader *facts.Reader) (*Gate, error) {
	c, core := *g, *g.Guard
	c.Guard = &core
	c.Reader, c.Beyond = reader, &c
	var err error
	c.Engine, err = c.WithoutHandlers()
	return &c, err
}

// forCall returns the Gate for one call: see [hookpath.Guard.ForCall].
func (g *Gate) forCall(s Options) (*Gate, error) {
	c, l := *g, *g.Loaded
	c.options, c.Loaded = s, &l
	var err error
	c.Guard, err = g.Guard.ForCall(&l.Found, &c)
	return &c, err
}

// checkInput holds a rewritten tool input against what is known of the tool.
func (g *Gate) checkInput(tool string, input map[string]any) error {
	return errors.Join(adapters.CheckInput(tool, input), g.Loaded.Schemas.Check(tool, input))
}

// Notes are what a person should know of a decision besides.
func (g *Gate) Notes(ev *hook.Event, d *hook.Decision) (notices []string) {
	if ev.Name.Canonical() == hook.SessionStart {
		notices = append(g.Untrusted(), g.unasked()...)
	}
	return append(notices, g.notRun(d)...)
}

// Untrusted says which sources hold something that does not count because
// nobody trusted it.
func (g *Gate) Untrusted() []string {
	var notices []string
	for _, src := range g.Set.Sources() {
		notices = append(notices, sources.NotTrusted(src, g.Where[src.Name])...)
	}
	return notices
}

// Started finds the hooks of what an event starts.
func (g *Gate) Started(kind session.Kind, name string, ev *hook.Event, d *hook.Decision) []session.Registration {
	return g.Loaded.Started(g.options.For, kind, name, ev, d)
}

// Version is the module's version, with the revision where the build knows it.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
