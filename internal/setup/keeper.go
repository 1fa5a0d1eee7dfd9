package setup

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gate/hook"
	"gate/internal/artifact"
	"gate/internal/places"
	"gate/internal/rego"
	"gate/internal/serve"
	"gate/internal/sources"
)

// gateAge is how long a gate may be used, though no file has changed.
const gateAge = 10 * time.Second

// A Keeper gives calls of many projects their gates, for a process that lives
// long. A gate is kept for as long as none of the files has changed that it was
// made of, and for gateAge at most: what else it depends on, such as the time,
// is looked at then. What does not load leaves nothing of before in force.
type Keeper struct {
	sameEnv bool // agents run in this process's environment

	mu       sync.Mutex
	kept     map[keptKey]*kept
	projects map[string]string // where sessions began, by their name
	last     *Gate             // that was loaded, of any project
	err      error             // why the last one did not load
	reloads  int
	failures int
}

// keptKey is what gates differ in.
type keptKey struct {
	project string
	foreign bool
}

// A kept is one gate.
type kept struct {
	mu     sync.Mutex // held while it is compared and loaded
	gate   *Gate      // nil: it must be loaded
	rego   *rego.Evaluator
	since  time.Time
	stamps map[string]artifact.Stamp // of files and directories, by their paths
}

// Bounds on what is kept. Whatever is beyond them is found out anew.
const (
	maxKept     = 32
	maxSessions = 4096
	maxStamps   = 20_000
)

func NewKeeper(sameEnv bool) *Keeper {
	return &Keeper{sameEnv: sameEnv, kept: map[keptKey]*kept{}, projects: map[string]string{}}
}

// Gate returns a gate for one call. told says that the agent itself named the
// project.
func (k *Keeper) Gate(s Options, told bool) (*Gate, error) {
	s.elsewhere = !k.sameEnv
	s.Project = k.projectOf(s, told)
	g, err := k.current(k.entry(keptKey{s.Project, s.Foreign}), s)
	if err != nil {
		return nil, err
	}
	return g.ForCall(s)
}

// current returns the gate that is in force.
func (k *Keeper) current(e *kept, s Options) (*Gate, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.fresh(time.Now()) {
		if err := k.load(e, s); err != nil {
			return nil, err
		}
	}
	return e.gate, nil
}

// projectOf returns the project of a session: that of its first event, wherever
// the agent goes afterwards, as agents tell gate hook in a variable.
func (k *Keeper) projectOf(s Options, told bool) string {
	if s.Event == nil || s.Event.SessionID() == "" {
		return s.Project
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	name := s.Event.Agent + "\x00" + s.Event.SessionID()
	if at, known := k.projects[name]; known && !told {
		return at
	}
	if len(k.projects) >= maxSessions {
		clear(k.projects)
	}
	k.projects[name] = s.Project
	return s.Project
}

func (k *Keeper) entry(key keptKey) *kept {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.kept[key]
	if e == nil {
		if len(k.kept) >= maxKept {
			clear(k.kept)
		}
		e = &kept{}
		k.kept[key] = e
	}
	return e
}

// load loads everything, and keeps what was compiled of what is still the same.
func (k *Keeper) load(e *kept, s Options) error {
	k.mu.Lock()
	if e.rego == nil && k.last != nil {
		e.rego = k.last.Rego
	}
	k.mu.Unlock()
	s.Session, s.Event = nil, nil
	s.Rego = []rego.Option{rego.WithCompiled(e.rego)}
	now, was := time.Now(), e.stamps
	e.gate = nil
	roots := []string{s.Managed, s.User, s.Grants().TrustDir()}
	if s.Project != "" {
		roots = append(roots, filepath.Join(s.Project, places.ProjectDir))
	}
	before := stampsOf(roots)
	l := sources.Load(s.For)
	e.stamps = stampsOf(slices.Collect(maps.Values(l.Where))) // plugins lie elsewhere
	if before == nil || e.stamps == nil {
		e.stamps = nil
	} else {
		maps.Copy(e.stamps, before)
	}
	g, err := s.gate(l, nil)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err = err
	if err != nil {
		k.failures++
		return err
	}
	if !maps.Equal(was, e.stamps) {
		k.reloads++
	}
	e.gate, e.rego, e.since, k.last = g, g.Rego, now, g
	return nil
}

// fresh reports that the gate is what would be loaded now.
func (e *kept) fresh(now time.Time) bool {
	if e.gate == nil || now.Sub(e.since) >= gateAge || now.Before(e.since) {
		return false
	}
	for path, was := range e.stamps {
		is, err := artifact.Look(filepath.Dir(path))(filepath.Base(path))
		if err != nil || is != was || !was.Settled(e.since) {
			return false
		}
	}
	return true
}

// stampsOf stamps everything below directories. It returns nil where that is not
// possible: then only the age of a gate counts. What is stamped after it was
// read, and changed in between, is not settled.
func stampsOf(roots []string) map[string]artifact.Stamp {
	stamps := map[string]artifact.Stamp{}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, _ error) error {
			stamp, err := artifact.Look(filepath.Dir(path))(filepath.Base(path))
			if err != nil {
				return err
			}
			if stamps[path] = stamp; len(stamps) > maxStamps {
				return errors.New("too many files")
			}
			return nil
		})
		if err != nil {
			return nil
		}
	}
	return stamps
}

// Newest is the gate that was loaded last, of any project; nil: none was.
func (k *Keeper) Newest() *Gate {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last
}

// State is what there is to say about the gate that was loaded last.
func (k *Keeper) State() serve.State {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := serve.State{Err: k.err, Reloads: k.reloads, Failures: k.failures}
	if k.last == nil {
		return s
	}
	for _, src := range k.last.Set.Sources() {
		for _, h := range src.Hooks {
			if h.Kind == hook.Rego {
				s.Policies++
			}
		}
	}
	for i := range k.last.Loaded.Signed {
		b := &k.last.Loaded.Signed[i]
		if b.Trial {
			continue // the numbers are those of what counts
		}
		s.Bundles = append(s.Bundles, serve.Bundle{Name: strings.ToValidUTF8(b.Name, "?"), Version: int64(b.Version), Synced: b.Synced})
	}
	return s
}
