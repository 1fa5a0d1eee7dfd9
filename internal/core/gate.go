// Package core has the Gate: everything set up to decide. A caller sets one up by [New]
// and asks it by [Gate.Decide], or by [Gate.Answer] with the memory of a session. The
// Gate always locates and redacts.
//
// It is thin: gate-hook makes a Gate of compiled forms. Package sources loads hooks
// from files; package setup makes a Gate of them with OPA and handlers. Package core
// reads no policies and knows no agent's process.
package core

import (
	"context"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"gate/engine"
	"gate/facts"
	"gate/hook"
	"gate/internal/catalogue"
	"gate/internal/hostfs"
	"gate/internal/origin"
	"gate/internal/places"
	"gate/internal/session"
	"gate/internal/setting"
	"gate/matcher"
	"gate/scopes"
)

// Found is everything that hooks and settings come from, as found on this
// machine.
type Found struct {
	Sources []scopes.Source
	Layers  []scopes.Layer
	Where   map[string]string // the directory of a source's files, by its name
	Notices []string          // what shaped every decision and a person should know

	Bundles      []Bundle // in force, in their order
	TakesBundles bool     // this machine takes signed bundles, whether or not there are any
	Enrolling    bool     // it does, and none has come that counts
	MayAge       []string // bundles whose age only warns, by a recovery file
	Relaxed      string   // a sentence about that file; "": none relaxes anything
	Unrelaxed    string   // a sentence about a file that is refused; "": none is

	// Fingerprint is the short digest of a policy's text, where the sources are
	// without their modules.
	Fingerprint func(source, id string) string

	ageing []string // bundles that are too old
	said   said
}

// Clone returns what was found, so that it can be weighed and added to.
func (f Found) Clone() Found {
	f.Where, f.said = maps.Clone(f.Where), maps.Clone(f.said)
	f.Sources, f.Layers, f.Notices = slices.Clone(f.Sources), slices.Clone(f.Layers), slices.Clone(f.Notices)
	return f
}

// A Machine is whom and what a Gate is for.
type Machine struct {
	places.Dirs
	Account   string // of the system's database, "" if it is not known
	Home      string // what "~" means to the agent's shell
	Project   string // its root, "" if it is not known
	LookupEnv func(string) (string, bool)
	Files     facts.Files // nil: the machine's

	// Origins keep what calls leave in files of the project; nil: a file below State
	// does, unless Past.
	Origins *session.Ledger

	// Shown keep what sessions were shown; nil: files below State do, unless Past.
	Shown *session.Texts

	// Tries says that no call is about to be made: what would run confined is told, and
	// nobody asks whether the machine can hold it.
	Tries bool

	// AllFacts has facts worked out that no hook in force reads, too.
	AllFacts bool

	// Past says that events are of the past: their time and labels are what was
	// recorded.
	Past bool
}

// A Gate is gate set up for one machine, one user and one project: the hooks
// in force, the engine that runs them, and what facts may look at.
type Gate struct {
	*Found
	Machine
	Set    *scopes.Set
	Reader *facts.Reader
	Engine *engine.Engine // nil where [New] had no Parts
	Beyond Beyond         // nil: a call that needs it is handed over

	// Confinement has calls run confined; nil: a call that is to run so, or did, is handed
	// over, and is asked about where nobody takes it.
	Confinement Confinement

	// Holds is asked once there is a decision, and before anything follows from it:
	// with an error what the Gate was made of is not what there is, and the call is
	// handed over, or closed where nobody takes it. Nil: nothing can have changed.
	Holds func() error

	// Since is when gate began with the call; zero: the log does not say how long it took.
	Since time.Time

	backtracks matcher.Backtracker
	turn       chan struct{} // of the logbook
	earliest   time.Time     // what the clock must not fall below; zero where nothing expires
	session    *Session      // nil where nothing is remembered of the event's session
	approver   *approver     // nil where nobody may approve a call, or none is about to be made
}

// origins is the ledger of what calls leave in files of the project. It reports false
// where none is kept.
func (m Machine) origins() (session.Ledger, bool) {
	switch {
	case m.Origins != nil:
		return *m.Origins, true
	case m.State == "" || m.Past:
		return session.Ledger{}, false
	}
	return m.Ledger(m.Project), true
}

// Parts are what the engine of a Gate runs hooks by. They are asked for once it is
// known which hooks are in force, and may change what the Gate has beside them. Inline
// is whom inline hooks are left to that gate itself does not speak for; nil: nobody.
type Parts func(*Gate) (options []engine.Option, inline engine.Evaluator, err error)

// New combines settings, orders hooks and makes the engine. An error means that
// settings contradict each other; no call may pass then. Without a Backtracker some
// matchers are a mistake in their source. With nil Parts there is no engine: the Gate
// is for whoever looks at settings and hooks.
func New(f *Found, m Machine, b matcher.Backtracker, parts Parts) (*Gate, error) {
	g := &Gate{Found: f, Machine: m, backtracks: b, turn: make(chan struct{}, 1)}
	g.keepTime()
	settings, err := setting.Combine(g.Layers...)
	if err != nil {
		return nil, err
	}
	g.weighAge(time.Now(), settings.Stale)
	if g.Set, err = scopes.New(g.Sources, settings, scopes.WithBacktracking(b)); err != nil {
		return nil, err
	}
	g.Reader = g.NewReader(m)
	if parts == nil {
		return g, nil
	}
	options, inline, err := parts(g)
	if err != nil {
		return nil, err
	}
	own := []engine.Option{engine.WithFacts(g.facts), engine.WithSpelling(g.Reader.Respell), engine.WithDone(g.done)}
	if g.said != nil || inline != nil {
		own = append(own, engine.WithEvaluator(hook.Inline, speaker{g.said, inline}))
	}
	if g.approver != nil {
		own = append(own, engine.WithApprovals(g.approver.use))
	}
	g.Engine, err = engine.New(g.Set, append(own, options...)...)
	return g, err
}

// ForCall returns a Gate that shares with g all but what is remembered of one
// call, so that many calls can be judged at once. found is a copy of g's that
// the call may add to, and beyond takes the place of g's.
func (g *Gate) ForCall(found *Found, beyond Beyond) (*Gate, error) {
	c := *g
	found.Notices = slices.Clip(found.Notices)
	c.Found, c.Beyond, c.session = found, beyond, nil
	options := []engine.Option{engine.WithDone(c.done)}
	if g.approver != nil {
		c.approver = g.approver.of(&c)
		options = append(options, engine.WithApprovals(c.approver.use))
	}
	var err error
	c.Engine, err = g.Engine.With(options...)
	return &c, err
}

// Seeing returns a Gate that differs from g in what works out facts, and knows nothing of
// what g remembered.
func (g *Gate) Seeing(facts func(*hook.Event) *hook.Facts) (*Gate, error) {
	c := *g
	c.session = nil
	var err error
	c.Engine, err = g.Engine.With(engine.WithFacts(facts), engine.WithDone(c.done))
	return &c, err
}

// InForce returns the sources as settings leave them.
func (g *Gate) InForce() []scopes.Source {
	list := make([]scopes.Source, len(g.Set.Sources()))
	for i, src := range g.Set.Sources() {
		list[i] = *src
	}
	return list
}

// keepTime sees to it that nothing which has expired comes to life again when
// somebody sets the clock back. Where that cannot be told, there are no
// exceptions.
func (g *Gate) keepTime() {
	excepts := func(y scopes.Layer) bool { return len(y.Exceptions) > 0 }
	if g.Past || g.State == "" || !slices.ContainsFunc(g.Layers, excepts) {
		return // without a state directory nothing is known of the clock
	}
	now, err := g.Grants().Clock(time.Now())
	if err == nil {
		g.earliest = now
		return
	}
	g.Notices = append(g.Notices, "exceptions do not count: "+err.Error())
	for i := range g.Layers {
		g.Layers[i].Exceptions = nil
	}
}

// Decide answers one event. What a person should know about gate itself comes
// with every decision.
func (g *Gate) Decide(ctx context.Context, ev hook.Event) hook.Decision {
	if ev.Gate.Now.Before(g.earliest) {
		ev.Gate.Now = g.earliest
	}
	if !g.Past {
		ev.Gate.Labels = g.Set.Settings().Labels
	}
	d := g.Engine.Decide(ctx, ev)
	d.Notices, d.Bundles = append(d.Notices, g.Notices...), g.Named()
	if !g.Past && g.State != "" {
		d.Notices = append(d.Notices, g.loosened(ev.Name.Canonical() == hook.SessionStart)...)
	}
	switch name := ev.Name.Canonical(); {
	case name == hook.SessionStart, name == hook.UserPromptSubmit:
		d.Notices = append(d.Notices, g.Asides()...)
	case d.Effect >= hook.Ask:
		d.Notices = append(d.Notices, g.ageWarnings(&d)...)
	}
	if g.approver != nil {
		d.Notices = append(d.Notices, g.approver.remember(&ev, &d)...)
	}
	if g.Beyond != nil {
		d.Notices = append(d.Notices, g.Beyond.Notes(&ev, &d)...)
	}
	g.Locate(&d)
	Redact(&d)
	return d
}

// NewReader returns what works out facts about calls on a machine, as far as hooks and
// settings ask for them.
func (g *Gate) NewReader(m Machine) *facts.Reader {
	files := m.Files
	if files == nil {
		files = hostfs.Files{}
	}
	w := facts.World{
		Home:     filepath.ToSlash(m.Home),
		User:     m.Account,
		OS:       runtime.GOOS,
		Project:  filepath.ToSlash(m.Project),
		Getenv:   m.LookupEnv,
		Files:    files,
		Own:      func() []facts.Place { return places.Own(m.Dirs) },
		Programs: g.Set.Settings().Programs,

		WordsOnly: !m.Past && !m.AllFacts && !g.Set.Beside(),
	}
	if ledger, kept := m.origins(); kept {
		w.Ledger = func(agent, id string) origin.Ledger {
			return ledger.Open(session.Key{Agent: agent, Session: id})
		}
	}
	return facts.New(w)
}

// catalogue has the rows of programs, those of settings included.
func (g *Gate) catalogue() *catalogue.Catalogue { return catalogue.New(g.Set.Settings().Programs) }

// Now is what gate adds to an event of an account at this moment.
func Now(account string, interactive bool) hook.Gate {
	return hook.Gate{Now: time.Now(), User: account, OS: runtime.GOOS, Interactive: interactive}
}
