package hookpath

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"gate/engine"
	"gate/facts"
	"gate/hook"
	"gate/hostfs"
	"gate/internal/places"
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
	MayAge       []string // bundles whose age only warns, by a recovery file
	Relaxed      string   // a sentence about that file; "": none relaxes anything
	Unrelaxed    string   // a sentence about a file that is refused; "": none is

	// Fingerprint is the short digest of a policy's text, where the sources are
	// without their modules.
	Fingerprint func(source, id string) string

	ageing []string // bundles that are too old
	said   said
}

// A Machine is whom and what a guard is for.
type Machine struct {
	places.Dirs
	Account   string // of the system's database, "" if it is not known
	Home      string // what "~" means to the agent's shell
	Project   string // its root, "" if it is not known
	LookupEnv func(string) (string, bool)
	Files     facts.Files // nil: the machine's
}

// A Guard is gate set up for one machine, one user and one project: the hooks
// in force, the engine that runs them, and what facts may look at.
type Guard struct {
	*Found
	Machine
	Set    *scopes.Set
	Reader *facts.Reader
	Engine *engine.Engine // nil before [Guard.Start]
	Beyond Beyond         // nil: a call that needs it is handed over

	// Holds is asked once there is a decision, and before anything follows from it:
	// with an error what the guard was made of is not what there is, and the call is
	// handed over, or closed where nobody takes it. Nil: nothing can have changed.
	Holds func() error

	backtracks matcher.Backtracker
	turn       chan struct{} // of the logbook
	earliest   time.Time     // what the clock must not fall below; zero where nothing expires
	session    *Session      // nil where nothing is remembered of the event's session
	approver   *approver     // nil where nobody may approve a call, or none is about to be made
}

// New combines settings and orders hooks. An error means that settings
// contradict each other; no call may pass then. Without a Backtracker some
// matchers are a mistake in their source. [Guard.Start] comes next.
func New(f *Found, m Machine, b matcher.Backtracker) (*Guard, error) {
	g := &Guard{Found: f, Machine: m, backtracks: b, turn: make(chan struct{}, 1)}
	g.keepTime()
	settings, err := scopes.Combine(g.Layers...)
	if err != nil {
		return nil, err
	}
	g.weighAge(time.Now(), settings.Stale)
	if g.Set, err = scopes.New(g.Sources, settings, scopes.WithBacktracking(b)); err != nil {
		return nil, err
	}
	g.Reader = NewReader(m, g.Set.Settings().Programs)
	return g, nil
}

// Start makes the engine, of the evaluators and whatever else it is to have.
func (g *Guard) Start(options ...engine.Option) (err error) {
	own := []engine.Option{engine.WithFacts(g.Reader.Of), engine.WithDone(g.done)}
	if g.said != nil {
		own = append(own, engine.WithEvaluator(hook.Inline, g.said))
	}
	if g.approver != nil {
		own = append(own, engine.WithApprovals(g.approver.use))
	}
	g.Engine, err = engine.New(g.Set, append(own, options...)...)
	return err
}

// ForCall returns a guard that shares with g all but what is remembered of one
// call, so that many calls can be judged at once. found is a copy of g's that
// the call may add to, and beyond takes the place of g's.
func (g *Guard) ForCall(found *Found, beyond Beyond) (*Guard, error) {
	c := *g
	found.Notices = slices.Clip(found.Notices)
	c.Found, c.Beyond, c.session = found, beyond, nil
	options := []engine.Option{engine.WithDone(c.done)}
	if g.approver != nil {
		c.approver = &approver{store: g.approver.store, rules: g.approver.rules}
		options = append(options, engine.WithApprovals(c.approver.use))
	}
	var err error
	c.Engine, err = g.Engine.With(options...)
	return &c, err
}

// InForce returns the sources as settings leave them.
func (g *Guard) InForce() []scopes.Source {
	list := make([]scopes.Source, len(g.Set.Sources()))
	for i, src := range g.Set.Sources() {
		list[i] = *src
	}
	return list
}

// keepTime sees to it that nothing which has expired comes to life again when
// somebody sets the clock back. Where that cannot be told, there are no
// exceptions.
func (g *Guard) keepTime() {
	excepts := func(y scopes.Layer) bool { return len(y.Exceptions) > 0 }
	if !slices.ContainsFunc(g.Layers, excepts) {
		return
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
func (g *Guard) Decide(ctx context.Context, ev hook.Event) hook.Decision {
	if ev.Gate.Now.Before(g.earliest) {
		ev.Gate.Now = g.earliest
	}
	ev.Gate.Labels = g.Set.Settings().Labels
	d := g.Engine.Decide(ctx, ev)
	d.Notices, d.Bundles = append(d.Notices, g.Notices...), g.Named()
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

// NewReader returns what works out facts about calls on a machine, where
// settings describe further programs.
func NewReader(m Machine, programs map[string]any) *facts.Reader {
	files := m.Files
	if files == nil {
		files = hostfs.Files{}
	}
	return facts.New(facts.World{
		Home:     filepath.ToSlash(m.Home),
		User:     m.Account,
		OS:       runtime.GOOS,
		Project:  filepath.ToSlash(m.Project),
		Getenv:   m.LookupEnv,
		Files:    files,
		Own:      func() []facts.Place { return places.Own(m.Dirs) },
		Programs: programs,
	})
}

// Now is what gate adds to an event of an account at this moment.
func Now(account string, interactive bool) hook.Gate {
	return hook.Gate{Now: time.Now(), User: account, OS: runtime.GOOS, Interactive: interactive}
}
