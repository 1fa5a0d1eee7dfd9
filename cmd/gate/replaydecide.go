package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"gate/adapters"
	"gate/audit"
	"gate/cmd/internal/hookpath"
	"gate/cmd/internal/places"
	"gate/cmd/internal/setup"
	"gate/cmd/internal/sources"
	"gate/engine"
	"gate/hook"
	"gate/replay"
)

// A replayer decides past calls by the policies that are in force here and by a
// candidate. It is safe for concurrent use.
type replayer struct {
	setting   setup.Options
	candidate *proposal // nil: there is none
	base      *proposal // what stands in the candidate's place otherwise; nil: what is in force here
	facts     string    // which facts calls are decided by: recorded, today or blind

	strangers atomic.Int64 // calls that a project's policies decided about which are not here

	mu     sync.Mutex
	guards map[guardKey]*guarded
	roots  map[string]string // project roots by the directory that a session began in
}

// The facts that calls are decided by.
const (
	factsRecorded = "recorded" // those that were recorded, else today's
	factsToday    = "today"    // by this machine's files and environment
	factsBlind    = "blind"    // without a look at any file or variable
)

// A guardKey is what a guard depends on. Projects without files of gate's have
// their policies in common.
type guardKey struct {
	gate      string // the project, if it has files of gate's
	project   string
	branch    string
	candidate bool
}

// A guarded is a guard that is made when it is first needed.
type guarded struct {
	once  sync.Once
	guard *setup.Gate
	err   error
}

func newReplayer(s setup.Options, c *proposal, facts string) *replayer {
	if facts == factsBlind {
		s.Env, s.Files = func(string) (string, bool) { return "", false }, noFiles{}
	}
	return &replayer{
		setting: s, candidate: c, facts: facts,
		guards: map[guardKey]*guarded{}, roots: map[string]string{},
	}
}

// prepare gives a call its facts and what gate itself would have added.
func (r *replayer) prepare(c *replay.Call) {
	if c.Kind == replay.Decision && r.facts != factsRecorded {
		if c.Forget(); c.Lost != "" {
			return
		}
	}
	if c.Kind != replay.Decision {
		today := hookpath.Now(places.AccountName(), true)
		if c.Event.Gate.Now.IsZero() {
			c.Event.Gate.Now = today.Now
		}
		c.Event.Gate.User, c.Event.Gate.OS = today.User, today.OS
	}
	if c.Then != nil && slices.ContainsFunc(c.Then.Policies, func(p audit.Policy) bool { return p.Source == "project" }) {
		if _, err := os.Lstat(filepath.Join(c.Project, places.ProjectDir)); err != nil {
			r.strangers.Add(1)
		}
	}
	c.Event.Facts = c.Facts
	if c.Facts != nil {
		return
	}
	g, err := r.guard(c, false)
	if err != nil {
		c.Lost = err.Error()
		return
	}
	c.Event.Facts = g.Reader.Of(&c.Event)
}

// decider returns what decides by the candidate, or by what is in force here.
func (r *replayer) decider(candidate bool) replay.Decider {
	return func(ctx context.Context, c *replay.Call) audit.Record {
		g, err := r.guard(c, candidate)
		var d hook.Decision
		if err == nil {
			d = redecide(ctx, g, c)
		} else {
			d = hookpath.Closing(c.Event.Name, &hook.Fault{Kind: hook.FaultLoad, Err: err})
		}
		canAsk := true
		if a, ok := adapters.Lookup(c.Event.Agent); ok {
			canAsk = a.CanAsk(&c.Event)
		}
		rec := audit.Of(&c.Event, &d, d.Result(canAsk))
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

// redecide decides about a call as it was: at its time, and on the machine of
// then as far as that is recorded.
func redecide(ctx context.Context, g *setup.Gate, c *replay.Call) hook.Decision {
	ctx, cancel := context.WithTimeout(ctx, engine.Limit)
	defer cancel()
	ev := c.Event
	if c.Kind != replay.Decision {
		ev.Gate.Labels = g.Set.Settings().Labels
	}
	d := g.Engine.Decide(ctx, ev)
	g.Locate(&d)
	hookpath.Redact(&d)
	return d
}

// guard returns what decides about a call.
func (r *replayer) guard(c *replay.Call, candidate bool) (*setup.Gate, error) {
	key := guardKey{project: r.root(c), branch: c.Branch, candidate: candidate}
	if key.project != "" {
		if _, err := os.Lstat(filepath.Join(key.project, places.ProjectDir)); err == nil {
			key.gate = key.project
		}
	}
	return r.made(key).guard, r.made(key).err
}

// root is the root of the project that a call was made in.
func (r *replayer) root(c *replay.Call) string {
	dir := c.Project
	if dir == "" {
		dir = c.Event.Dir()
	}
	if c.Kind == replay.Decision && c.Project != "" {
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

func (r *replayer) made(key guardKey) *guarded {
	r.mu.Lock()
	m := r.guards[key]
	if m == nil {
		if len(r.guards) >= maxReplayGuards {
			clear(r.guards)
		}
		m = &guarded{}
		r.guards[key] = m
	}
	r.mu.Unlock()
	m.once.Do(func() { m.guard, m.err = r.make(key) })
	return m
}

// make loads what decides. Of the hooks only policies take part: others would
// run something.
func (r *replayer) make(key guardKey) (*setup.Gate, error) {
	s := r.setting
	if shared := (guardKey{gate: key.gate, candidate: key.candidate}); key != shared {
		base := r.made(shared)
		if base.err != nil {
			return nil, base.err
		}
		s.Project = key.project
		if key.branch != "" && key.branch != "HEAD" {
			s.Files = onBranch(s.Files, key.project, key.branch)
		}
		g, err := base.guard.With(hookpath.NewReader(s.Machine(), base.guard.Set.Settings().Programs))
		if err == nil {
			g.Project = key.project
		}
		return g, err
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
