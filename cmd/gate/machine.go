package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"gate/adapters"
	"gate/consent"
	"gate/engine"
	"gate/engine/handlers"
	"gate/engine/rego"
	"gate/facts"
	"gate/hook"
	"gate/hostfs"
	"gate/policies"
	"gate/scopes"
)

// A guard is gate set up for one machine, one user and one project: the
// policies, the engine that runs them, and what facts may look at.
type guard struct {
	loaded
	set      *scopes.Set
	engine   *engine.Engine
	rego     *rego.Evaluator
	reader   *facts.Reader
	project  string             // its root, "" if it is not known
	home     string             // what "~" means to the agent's shell
	earliest time.Time          // what the clock must not fall below; zero where nothing expires
	session  *remembered        // nil where nothing is remembered of the event's session
	handlers *handlers.Handlers // nil where handlers are not run
	approver *approver          // nil where nobody may approve a call, or none is about to be made
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
	foreign     bool                    // the agent does not run the hooks of plugins, skills and sub-agents itself
	session     *remembered             // of the event; nil: of none
	event       *hook.Event             // that is about to be judged; nil where session is
	live        bool                    // the calls are about to be made: approvals are looked for and used up
}

// newGuard loads settings and hooks and prepares the engine. An error means
// that settings contradict each other; no call may pass then.
func newGuard(s setting) (*guard, error) {
	l := loadSources(s, library())
	l.addRegistered(s)
	return s.guard(l)
}

// guard prepares the engine for what was loaded.
func (s setting) guard(l loaded) (*guard, error) {
	g := &guard{loaded: l, project: s.project, home: s.home}
	g.keepTime(grants(s.dirs))
	settings, err := scopes.Combine(g.layers...)
	if err != nil {
		return nil, err
	}
	g.weighAge(time.Now(), settings.Stale)
	if g.set, err = scopes.New(g.sources, settings); err != nil {
		return nil, err
	}
	g.reader = newReader(s, settings.Programs)
	evaluation := s.rego
	if s.live { // who judges many calls compiles once: a snapshot is without the indices that pay then
		evaluation = append([]rego.Option{rego.WithSnapshot(policies.Snapshot())}, s.rego...)
	}
	g.rego = rego.New(g.lib, inForce(g.set), evaluation...)
	options := []engine.Option{
		engine.WithEvaluator(hook.Rego, g.rego),
		engine.WithFacts(g.reader.Of),
		engine.WithValidator(g.checkInput),
		engine.WithDone(g.done),
	}
	options = append(options, g.runHandlers(s)...)
	if g.spoiled != nil {
		options = append(options, engine.WithEvaluator(hook.Inline, g.spoiled))
	}
	if s.live && settings.Approvals.Enabled {
		if g.approver, err = newApprover(grants(s.dirs), settings.Approvals); err != nil {
			g.notices = append(g.notices, "nobody can approve a call: "+err.Error())
		} else {
			options = append(options, engine.WithApprovals(g.approver.use))
		}
	}
	g.engine, err = engine.New(g.set, append(options, s.engine...)...)
	return g, err
}

// with returns the guard with another view of the machine.
func (g *guard) with(reader *facts.Reader) (*guard, error) {
	c := *g
	c.reader = reader
	var err error
	c.engine, err = c.withoutHandlers()
	return &c, err
}

// inForce returns the sources as settings leave them.
func inForce(set *scopes.Set) []scopes.Source {
	list := make([]scopes.Source, len(set.Sources()))
	for i, src := range set.Sources() {
		list[i] = *src
	}
	return list
}

// keepTime sees to it that nothing which has expired comes to life again when
// somebody sets the clock back. Where that cannot be told, there are no
// exceptions.
func (g *guard) keepTime(store consent.Store) {
	excepts := func(y scopes.Layer) bool { return len(y.Exceptions) > 0 }
	if !slices.ContainsFunc(g.layers, excepts) {
		return
	}
	now, err := store.Clock(time.Now())
	if err == nil {
		g.earliest = now
		return
	}
	g.notices = append(g.notices, "exceptions do not count: "+err.Error())
	for i := range g.layers {
		g.layers[i].Exceptions = nil
	}
}

// checkInput holds a rewritten tool input against what is known of the tool.
func (g *guard) checkInput(tool string, input map[string]any) error {
	return errors.Join(adapters.CheckInput(tool, input), g.schemas.Check(tool, input))
}

// decide answers one event. What a person should know about gate itself comes
// with every decision.
func (g *guard) decide(ctx context.Context, ev hook.Event) hook.Decision {
	if ev.Gate.Now.Before(g.earliest) {
		ev.Gate.Now = g.earliest
	}
	ev.Gate.Labels = g.set.Settings().Labels
	d := g.engine.Decide(ctx, ev)
	d.Notices, d.Bundles = append(d.Notices, g.notices...), g.named()
	switch name := ev.Name.Canonical(); {
	case name == hook.SessionStart, name == hook.UserPromptSubmit:
		d.Notices = append(d.Notices, g.asides()...)
	case d.Effect >= hook.Ask:
		d.Notices = append(d.Notices, g.ageWarnings(&d)...)
	}
	if g.approver != nil {
		d.Notices = append(d.Notices, g.approver.remember(&ev, &d)...)
	}
	if ev.Name.Canonical() == hook.SessionStart {
		d.Notices = append(append(d.Notices, g.untrusted()...), g.unasked()...)
	}
	d.Notices = append(d.Notices, g.notRun(&d)...)
	g.locate(&d)
	redact(&d)
	return d
}

// locate turns positions within a source into ones that an editor can open.
func (g *guard) locate(d *hook.Decision) {
	for _, list := range [][]hook.Reason{d.Reasons, d.Warnings} {
		for i := range list {
			list[i].Pos = g.position(list[i].Source, list[i].Pos)
		}
	}
	if d.Halt != nil {
		halt := *d.Halt
		halt.Pos = g.position(halt.Source, halt.Pos)
		d.Halt = &halt
	}
}

func (g *guard) position(source, pos string) string {
	if dir := g.dirs[source]; dir != "" && pos != "" && !filepath.IsAbs(pos) {
		return filepath.Join(dir, filepath.FromSlash(pos))
	}
	return pos
}

// newReader returns what works out facts about calls on this machine, where
// settings describe further programs.
func newReader(s setting, programs map[string]any) *facts.Reader {
	var files facts.Files = hostFiles{}
	if s.files != nil {
		files = s.files
	}
	return facts.New(facts.World{
		Home:     filepath.ToSlash(s.home),
		User:     accountName(),
		OS:       runtime.GOOS,
		Project:  filepath.ToSlash(s.project),
		Getenv:   s.env,
		Files:    files,
		Own:      ownPlaces(s.dirs),
		Programs: programs,
	})
}

// accountName is the name of the account, "" if it is not known.
func accountName() string {
	who, err := whoami()
	if err != nil {
		return ""
	}
	return who.name
}

// gateNow is what gate adds to an event at this moment.
func gateNow(interactive bool) hook.Gate {
	return hook.Gate{Now: time.Now(), User: accountName(), OS: runtime.GOOS, Interactive: interactive}
}

// ownPlaces lists where gate's own files really are, so that the rule that
// protects them and the layout cannot drift apart.
func ownPlaces(d dirs) []facts.Place {
	var trees, files []string
	for _, dir := range []string{d.managed, d.user, d.state} {
		for _, p := range hostfs.Spellings(dir) {
			trees = append(trees, p, p+"/**")
		}
	}
	if exe, err := os.Executable(); err == nil {
		files = hostfs.Spellings(exe)
	}
	return []facts.Place{
		{Class: "self", What: "gate's own directory", Patterns: trees},
		{Class: "self", What: "gate's program", Patterns: files},
	}
}

// adapterFor finds an agent's adapter.
func adapterFor(agent string) (adapters.Adapter, error) {
	if a, ok := adapters.Lookup(agent); ok {
		return a, nil
	}
	if agent == "" {
		return nil, usageError("which agent? give --agent with one of: " + strings.Join(adapters.Names(), ", "))
	}
	return nil, usageError("unknown agent " + quoted(agent) + "; known are: " + strings.Join(adapters.Names(), ", "))
}
