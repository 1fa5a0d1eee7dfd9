// Package guard sets gate up for a program that embeds it: the policies that
// gate brings, settings, policies and hook files from directories, Go functions
// as hooks, and the engine that runs them.
//
// It trusts the directories that it is told to read: whose files they are it
// does not ask, as the command gate does before it lets them decide for other
// people's agents. It gives no approvals and keeps no log. Start with [New], and
// give the Engine to package pipeline, or ask it yourself.
package guard

import (
	"errors"
	"path/filepath"
	"runtime"

	"gate/adapters"
	"gate/engine"
	"gate/engine/handlers"
	"gate/engine/handlers/judge"
	"gate/engine/rego"
	"gate/facts"
	"gate/hook"
	"gate/hostfs"
	"gate/matcher/backtracking"
	"gate/scopes"
)

// Options say what decides. The zero Options are the library alone.
type Options struct {
	// Managed and User are directories as gate's own are laid out: settings, a
	// hook file, policies/, plugins/. What Managed holds binds what User holds.
	// A directory that is named must be there; "": none.
	Managed, User string

	// Project is the root of the project that the agent works in. Its .gate
	// may be missing, and only tightens; "": it is not known.
	Project string

	Hooks []Hook // functions of the program's own

	WithoutLibrary bool // the policies that gate brings are left out

	// Home is what ~ means to the agent's shell, Account whose it is, Getenv
	// its environment. Unknown, they make some calls opaque.
	Home, Account string
	Getenv        func(name string) (value string, ok bool)

	// Handlers is what the other hooks may use. Inline, Dirs and Project are
	// set here, and Judge and MCPServers unless they are given: those are the
	// providers and the servers that settings name.
	Handlers handlers.Options
}

// A Hook is a Go function that judges events in the place of a program. Its ID,
// Events, Matcher, If, Priority, Timeout, OnFault, Once and Recheck count as in
// a hook file. It stands in Session scope and has the user's authority; with
// Authority Managed, in Policy scope and that.
type Hook struct {
	hook.Hook
	Func handlers.Inline
}

// A Guard is gate set up.
type Guard struct {
	Engine   *engine.Engine
	Gate     hook.Gate // what gate itself adds to events, but for the time
	Settings scopes.Settings
}

// New loads everything once. It returns every mistake that keeps a call from
// being judged as somebody meant it; a broken project or plugin is left out, and
// decisions say so.
func New(o Options) (*Guard, error) {
	l := &loader{Options: o, dirs: map[string]string{}}
	l.library()
	l.directory(o.Managed, "managed", hook.Policy, hook.Managed)
	l.directory(o.User, "user", hook.Session, hook.User)
	if o.Project != "" {
		l.project()
	}
	inline := l.functions()
	settings, err := scopes.Combine(l.layers...)
	if err != nil {
		return nil, err
	}
	l.plugins(settings)
	if err := errors.Join(append(l.errs, l.closing()...)...); err != nil {
		return nil, err
	}
	set, err := scopes.New(l.sources, settings, scopes.WithBacktracking(backtracking.Compile))
	if err != nil {
		return nil, err
	}
	e, err := engine.New(set, l.engine(set, inline)...)
	if err != nil {
		return nil, err
	}
	gate := hook.Gate{User: o.Account, OS: runtime.GOOS, Labels: settings.Labels}
	return &Guard{Engine: e, Gate: gate, Settings: settings}, nil
}

// engine is what the engine needs to run the hooks of set.
func (l *loader) engine(set *scopes.Set, inline map[string]handlers.Inline) []engine.Option {
	var inForce []scopes.Source
	for _, src := range set.Sources() {
		inForce = append(inForce, *src)
	}
	reader := l.reader(set.Settings().Programs)
	options := []engine.Option{
		engine.WithEvaluator(hook.Rego, rego.New(l.lib, inForce)),
		engine.WithFacts(reader.Of),
		engine.WithValidator(adapters.CheckInput),
	}
	o := l.Handlers
	o.Inline, o.Dirs, o.Project = inline, l.dirs, l.Project
	if o.Judge == nil { // it connects to nobody before it is asked
		o.Judge = judge.New(judge.Options{
			Settings: set.Settings(), Getenv: o.Getenv,
			Secret: func(path string) bool { return reader.Secret(filepath.ToSlash(path)) != "" },
		})
	}
	if o.MCPServers == nil {
		o.MCPServers = set.Settings().MCPServers
	}
	return append(options, handlers.New(o).EngineOptions()...)
}

func (l *loader) reader(programs map[string]any) *facts.Reader {
	var own []string
	for _, dir := range []string{l.Managed, l.User} {
		if dir == "" {
			continue
		}
		for _, p := range hostfs.Spellings(dir) {
			own = append(own, p, p+"/**")
		}
	}
	return facts.New(facts.World{
		Home: filepath.ToSlash(l.Home), User: l.Account, OS: runtime.GOOS, Project: filepath.ToSlash(l.Project),
		Getenv: l.Getenv, Files: hostfs.Files{}, Programs: programs,
		Own: func() []facts.Place {
			return []facts.Place{{Class: "self", What: "gate's own directory", Patterns: own}}
		},
	})
}
