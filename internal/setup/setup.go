// Package setup sets a Gate up for the commands: with the hooks that package sources
// loads, OPA for policies, handlers, and a person's approvals.
//
// Package core has the part that decides, which is all that gate-hook links. Package
// gate in the root is the door for programs that embed gate. Start with New, or with
// NewKeeper for many calls.
package setup

import (
	"errors"
	"runtime/debug"
	"slices"

	"gate/adapters"
	"gate/engine"
	"gate/facts"
	"gate/hook"
	"gate/internal/backtracking"
	"gate/internal/core"
	"gate/internal/forms"
	"gate/internal/handlers"
	"gate/internal/rego"
	"gate/internal/session"
	"gate/internal/sources"
	"gate/policies"
	"gate/scopes"
)

// A Gate is a [core.Gate], and what only a program asks that reads policy files and
// runs handlers.
type Gate struct {
	*core.Gate
	Loaded *sources.Loaded // what it is made of
	Rego   *rego.Evaluator // nil where compiled forms are asked

	options  Options
	whole    sources.Loaded     // as it was loaded, before settings were weighed
	forms    *forms.Forms       // that it was set up from; nil: from files
	handlers *handlers.Handlers // nil where handlers are not run
}

// Options are what a Gate is set up by.
type Options struct {
	sources.For
	Run      bool             // handlers are run though no call is about to be made
	Handlers handlers.Options // what they may use; what the machine and settings say is filled in
	EnvFile  string           // whose lines the agent's shell runs, "" if there is none
	Rego     []rego.Option
	Engine   []engine.Option // the last word on what the engine is made of

	// Begins says what else a person should know when a session begins; nil: nothing.
	Begins func(*hook.Event) []string

	// Objection is what gate itself holds against the event, whatever hooks say of it;
	// "": nothing. The person hears it with the session's next event.
	Objection string

	elsewhere bool // the agent has another environment than LookupEnv, which nobody knows
}

// machine is whom and what the Gate is for.
func (s Options) machine() core.Machine {
	m := s.Machine
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
	if s.Objection != "" {
		object(&l.Found, s.Event.Name, s.Objection)
	}
	g := &Gate{whole: l.Clone(), Loaded: &l, forms: found, options: s}
	if _, err := core.New(&l.Found, s.machine(), backtracking.Compile, g.parts); err != nil {
		return nil, err
	}
	return g, nil
}

// objector is the source and the hook of gate's own objection.
const objector = "gate.settings"

// object has gate itself reject an event.
func object(f *core.Found, n hook.Name, why string) {
	h := &hook.Hook{ID: objector, Kind: hook.Inline, Scope: hook.Policy, Authority: hook.Managed, Source: objector, Events: []hook.Name{n}}
	f.Sources = append(f.Sources, scopes.Source{Name: objector, Scope: h.Scope, Authority: h.Authority, Hooks: []*hook.Hook{h}})
	f.SpeakFor(objector, hook.Reason{Effect: hook.Deny, Reason: why, Source: objector})
}

// parts are what the engine runs hooks by.
func (g *Gate) parts(decides *core.Gate) ([]engine.Option, engine.Evaluator, error) {
	decides.Beyond, g.Gate = g, decides
	evaluator, err := g.policies(g.options)
	if err != nil {
		return nil, nil, err
	}
	if g.options.Live {
		g.useApprovals()
	}
	options := []engine.Option{engine.WithEvaluator(hook.Rego, evaluator), engine.WithValidator(g.validator(adapters.CheckInput))}
	options = append(options, g.confines(decides)...)
	run, inline := g.runHandlers(g.options)
	return slices.Concat(options, run, g.options.Engine), inline, nil
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

// For returns the Gate for a project that has no files of gate's, with its own view
// of the machine's, and of what calls left in files of the project.
func (g *Gate) For(project string, files facts.Files, origins *session.Ledger) (*Gate, error) {
	c, m := *g, g.options.machine()
	m.Project, m.Files, m.Origins = project, files, origins
	reader := g.NewReader(m)
	var err error
	if c.Gate, err = g.Seeing(reader.Of); err == nil {
		c.Reader, c.Project, c.Beyond = reader, project, &c
		c.Engine, err = c.Engine.With(c.confines(c.Gate)...)
	}
	return &c, err
}

// ForCall returns the Gate for one call, about whose event and session options say
// more than when it was set up. What is registered in the session counts.
func (g *Gate) ForCall(s Options) (*Gate, error) {
	if s.Session != nil && s.Session.Known != nil && len(s.Session.Known.Registered) > 0 {
		l := g.whole.Clone()
		l.AddRegistered(s.For)
		s.Rego = []rego.Option{rego.WithCompiled(g.Rego)}
		return s.gate(l, nil)
	}
	c, l := *g, *g.Loaded
	c.options, c.Loaded = s, &l
	var err error
	c.Gate, err = g.Gate.ForCall(&l.Found, &c)
	return &c, err
}

// Options are what the Gate was set up by.
func (g *Gate) Options() Options { return g.options }

// Checking returns a Gate that holds rewritten inputs against check in place of what
// is known of other agents' tools.
func (g *Gate) Checking(check func(tool string, input map[string]any) error) (*Gate, error) {
	c, decides := *g, *g.Gate
	checked := engine.WithValidator(g.validator(check))
	c.options.Engine = append(slices.Clone(c.options.Engine), checked)
	c.Gate, c.Beyond = &decides, &c
	var err error
	c.Engine, err = g.Engine.With(checked)
	return &c, err
}

// validator holds a rewritten tool input against what is known of the tool.
func (g *Gate) validator(check func(string, map[string]any) error) func(string, map[string]any) error {
	return func(tool string, input map[string]any) error {
		return errors.Join(check(tool, input), g.Loaded.Schemas.Check(tool, input))
	}
}

// Notes are what a person should know of a decision besides.
func (g *Gate) Notes(ev *hook.Event, d *hook.Decision) (notices []string) {
	if ev.Name.Canonical() == hook.SessionStart {
		if g.options.Live {
			g.KeepTighter()
		}
		notices = append(g.Untrusted(), g.unasked()...)
		if g.options.Begins != nil {
			notices = append(notices, g.options.Begins(ev)...)
		}
	}
	if g.options.Objection != "" && g.options.Live && g.handlers != nil {
		g.handlers.TellLater(ev, objector, g.options.Objection)
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

// Held says which sources hold something that may rewrite, and whose rewrites do not
// count since settings leave them to the scope Policy.
func (g *Gate) Held() []string {
	settings := g.Set.Settings()
	var notices []string
	for _, src := range g.Set.Sources() {
		if why := settings.HoldsRewrites(src); why != "" && src.Loosens() && !src.Inactive() && len(sources.Rewriting(src)) > 0 {
			notices = append(notices, "rewrites of "+src.Name+" do not count: "+why)
		}
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
