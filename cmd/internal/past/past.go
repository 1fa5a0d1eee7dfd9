// Package past decides calls of the past by the policies of this machine, and by
// candidates, and shows the differences.
//
// Package replay reads the calls and compares the decisions; this package brings the
// policies. It runs no handler: only policies take part. Start with New.
package past

import (
	"context"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"gate/adapters"
	"gate/engine"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/core"
	"gate/internal/places"
	"gate/internal/replay"
	"gate/internal/session"
	"gate/internal/setup"
	"gate/internal/sources"
)

// A Replayer decides past calls by the policies that are in force here and by a
// candidate. It is safe for concurrent use.
type Replayer struct {
	options   setup.Options
	candidate *Proposal // nil: there is none
	base      *Proposal // what stands in the candidate's place otherwise; nil: what is in force here
	each      func(c *replay.Call, then, now *audit.Record)
	facts     string // which facts calls are decided by: recorded, today or blind

	fleet bool      // the calls are those of other machines: see [NewFleet]
	whole *Replayer // that this one decides a part for; nil: it is none's

	strangers atomic.Int64 // calls that a project's policies decided about which are not here

	mu       sync.Mutex
	gates    map[gateKey]*onceMade
	roots    map[string]string // project roots by the directory that a session began in
	memories map[memoryKey]*session.Held
	origins  map[string]*session.Lines // what calls left in files, by project
	shown    shown
}

// The facts that calls are decided by.
const (
	Recorded = "recorded" // those that were recorded, else today's
	Today    = "today"    // by this machine's files and environment
	Blind    = "blind"    // without a look at any file or variable
)

// Bases are all of these.
func Bases() []string { return []string{Recorded, Today, Blind} }

// A gateKey is what a gate depends on. Projects without files of gate's have
// their policies in common.
type gateKey struct {
	gate      string // the project, if it has files of gate's
	of        string // whose the project is, of a fleet's accounts
	project   string
	branch    string
	candidate bool
}

// shared is the key of what has the policies: to load them takes long.
func (k gateKey) shared() gateKey { return gateKey{gate: k.gate, candidate: k.candidate} }

// An onceMade is a gate that is made when it is first needed.
type onceMade struct {
	once sync.Once
	gate *setup.Gate
	err  error
}

// New returns what decides by the policies that are in force here, and by a
// candidate unless that is nil. facts is one of the constants.
func New(s setup.Options, candidate *Proposal, facts string) *Replayer {
	s.Past = true
	if facts == Blind {
		s.LookupEnv, s.Files = func(string) (string, bool) { return "", false }, noFiles{}
	}
	return &Replayer{
		options: s, candidate: candidate, facts: facts,
		gates: map[gateKey]*onceMade{}, roots: map[string]string{},
		memories: map[memoryKey]*session.Held{}, origins: map[string]*session.Lines{},
	}
}

// From has the candidate be compared with another one in its place, instead of with
// what is in force here.
func (r *Replayer) From(base *Proposal) { r.base = base }

// Each has f told of each call that is decided, in their order.
func (r *Replayer) Each(f func(c *replay.Call, then, now *audit.Record)) { r.each = f }

// Run decides about calls, by the candidate and by what stands there otherwise, or
// without a candidate by what is in force. progress is told how many there were;
// nil: nobody is. With an error comes what was decided until then.
func (r *Replayer) Run(ctx context.Context, calls iter.Seq2[*replay.Call, error], progress func(int)) (*Report, error) {
	o := replay.Options{Now: r.decider(r.candidate != nil), Shared: r.shared, Prepare: r.prepare, Progress: progress, Each: r.each}
	if r.candidate != nil {
		o.Then = r.decider(false)
	}
	report, err := replay.Run(ctx, calls, o)
	return &Report{Report: report, Against: r.candidate, facts: r.facts, strangers: int(r.strangers.Load())}, err
}

// prepare gives a call its facts and what gate itself would have added.
func (r *Replayer) prepare(c *replay.Call) {
	if c.Kind == replay.Decision && r.facts != Recorded {
		if c.Forget(); c.Lost != "" {
			return
		}
	}
	if c.Kind != replay.Decision {
		today := core.Now(places.AccountName(), true)
		if c.Event.Gate.Now.IsZero() {
			c.Event.Gate.Now = today.Now
		}
		c.Event.Gate.User, c.Event.Gate.OS = today.User, today.OS
	}
	if c.Then != nil && !r.fleet && slices.ContainsFunc(c.Then.Policies, func(p audit.Policy) bool { return p.Source == "project" }) {
		if _, err := os.Lstat(filepath.Join(c.Project, places.ProjectDir)); err != nil {
			r.strangers.Add(1)
		}
	}
	c.Event.Facts = c.Facts
	if c.Facts != nil && !readsSecret(c.Facts) && !shows(c) {
		return
	}
	g, err := r.gate(c, false)
	if err != nil {
		c.Lost = err.Error()
		return
	}
	showing := g.Showing(r.shown.of(memoryKeyOf(c)))
	ev := c.Event // without the facts of then
	ev.Facts = nil
	today := showing.Recalled(g.Reader.Of(&ev), &ev)
	r.leave(c, today.Moves)
	if c.Facts == nil {
		c.Event.Facts = today
	}
	show(showing, c)
}

// decider returns what decides by the candidate, or by what is in force here.
func (r *Replayer) decider(candidate bool) replay.Decider {
	return func(ctx context.Context, c *replay.Call) audit.Record {
		g, err := r.gate(c, candidate)
		var d hook.Decision
		if err == nil {
			d = r.redecide(ctx, g, c, candidate)
		} else {
			d = core.Closing(c.Event.Name, &hook.Fault{Kind: hook.FaultLoad, Err: err})
		}
		rec := audit.Of(&c.Event, &d, d.Result(canAsk(&c.Event)))
		if d.Rewrite != nil {
			rec.Keep(&c.Event, &d, nil)
		}
		if g != nil && len(c.Redacted) > 0 {
			for i := range rec.Policies {
				rec.Policies[i].Digest = g.Digest(rec.Policies[i])
			}
		}
		return rec
	}
}

// redecide decides about a call as it was: at its time, on the machine of then as far as
// that is recorded, and with what is remembered of its session.
func (r *Replayer) redecide(ctx context.Context, g *setup.Gate, c *replay.Call, candidate bool) hook.Decision {
	ctx, cancel := context.WithTimeout(ctx, engine.Limit)
	defer cancel()
	ev := c.Event
	if c.Kind != replay.Decision {
		ev.Gate.Labels = g.Set.Settings().Labels
	}
	one, err := g.Seeing(g.Reader.Of)
	if err != nil {
		return core.Closing(ev.Name, &hook.Fault{Kind: hook.FaultLoad, Err: err})
	}
	return one.Retell(ctx, core.RecallFrom(r.memory(c, candidate)), &ev, func(d *hook.Decision) bool { return d.Result(canAsk(&ev)) == hook.Reject })
}

// canAsk reports whether the agent can put a question about an event to somebody.
func canAsk(ev *hook.Event) bool {
	a, known := adapters.Lookup(ev.Agent)
	return !known || a.CanAsk(ev)
}

// gate returns what decides about a call.
func (r *Replayer) gate(c *replay.Call, candidate bool) (*setup.Gate, error) {
	key := gateKey{of: c.Of, project: r.root(c), branch: c.Branch, candidate: candidate}
	if key.project != "" && !r.fleet {
		if _, err := os.Lstat(filepath.Join(key.project, places.ProjectDir)); err == nil {
			key.gate = key.project
		}
	}
	return r.made(key).gate, r.made(key).err
}

// root is the root of the project that a call was made in.
func (r *Replayer) root(c *replay.Call) string {
	dir := c.Project
	if dir == "" {
		dir = c.Event.Dir()
	}
	if c.Kind == replay.Decision && c.Project != "" || r.fleet {
		return dir
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	root, known := r.roots[dir]
	if !known {
		root = places.ProjectRoot("", dir)
		r.roots[dir] = root
	}
	return root
}

// maxReplayGuards is how many are held at once; most differ by the project only
// and share their policies.
const maxReplayGuards = 512

func (r *Replayer) made(key gateKey) *onceMade {
	if r.whole != nil && key == key.shared() {
		return r.whole.made(key)
	}
	r.mu.Lock()
	m := r.gates[key]
	if m == nil {
		if len(r.gates) >= maxReplayGuards {
			maps.DeleteFunc(r.gates, func(k gateKey, _ *onceMade) bool { return k != k.shared() })
		}
		if len(r.gates) >= maxReplayGuards {
			clear(r.gates)
		}
		m = &onceMade{}
		r.gates[key] = m
	}
	r.mu.Unlock()
	m.once.Do(func() { m.gate, m.err = r.make(key) })
	return m
}

// make loads what decides. Of the hooks only policies take part: others would
// run something.
func (r *Replayer) make(key gateKey) (*setup.Gate, error) {
	s := r.options
	if shared := key.shared(); key != shared {
		base := r.made(shared)
		if base.err != nil {
			return nil, base.err
		}
		if key.branch != "" && key.branch != "HEAD" {
			s.Files = onBranch(s.Files, key.project, key.branch)
		}
		return base.gate.For(key.project, s.Files, r.ledger(key.of, key.project))
	}
	s.Project = key.gate
	l := sources.Load(s.For)
	l.Bundles = nil // how old they are today is nothing of the call
	if key.candidate {
		r.candidate.replace(&l)
	} else if r.base != nil {
		r.base.replace(&l)
	}
	for i := range l.Sources {
		l.Sources[i].Hooks = slices.DeleteFunc(slices.Clone(l.Sources[i].Hooks), func(h *hook.Hook) bool { return h.Kind != hook.Rego })
	}
	return setup.Of(s, l)
}
