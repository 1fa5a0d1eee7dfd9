package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"time"

	"gate/bundles"
	"gate/bundles/sync"
	"gate/hook"
	"gate/scopes"
	"gate/scopes/load"
)

// A bundled is a signed bundle in force, as it was found on this machine.
type bundled struct {
	sync.Active
	manifest bundles.Manifest
	synced   time.Time // when it was last found to be the newest; zero: never
	newest   int64     // the version that was in force after that; 0: it is not known
	broken   bool
}

// remedy is what repairs bundles on the disk. It needs the administrator.
const remedy = "gate sync --now, run by the administrator, puts it right"

// addBundles loads the signed bundles in force. They were verified when they
// came into force; what is checked now is whose the files are, and that they are
// those that were verified. A machine that takes bundles and has none that can
// be read closes.
func (l *loaded) addBundles(p *place) {
	if p == nil || p.err != nil {
		return
	}
	broken := func(err error) {
		l.sources = append(l.sources, scopes.Source{
			Name: "managed bundles", Scope: hook.Policy, Authority: hook.Managed,
			Faults: []hook.Fault{*hook.Faultf(hook.FaultLoad, "%w; %s", err, remedy)},
		})
	}
	data, err := stateFile(p, sync.CurrentFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if l.takesBundles = p.has(sync.KeysFile) || p.has(sync.SeenFile); l.takesBundles {
			broken(fmt.Errorf("%s: this machine takes signed bundles, and none is in force", filepath.Join(p.dir, sync.CurrentFile)))
		}
		return
	case err != nil:
		broken(fmt.Errorf("%s: %w", filepath.Join(p.dir, sync.CurrentFile), err))
		return
	}
	l.takesBundles = true
	current, err := sync.ParseCurrent(data)
	if err == nil && len(current.Bundles) == 0 {
		err = errors.New("it names no bundle")
	}
	if err != nil {
		broken(fmt.Errorf("%s: %w", filepath.Join(p.dir, sync.CurrentFile), err))
		return
	}
	// Whoever could write there could bring an older pointer back.
	if _, err := fs.Stat(p.files, sync.Dir); err != nil {
		broken(fmt.Errorf("%s: %w", filepath.Join(p.dir, sync.Dir), plain(err)))
		return
	}
	dir, err := deepFS{ownedFS{root: p.root, dir: p.dir, owner: p.owner}}.Sub(sync.Dir)
	if err != nil {
		broken(err)
		return
	}
	synced := l.readSynced(p)
	for i, a := range current.Bundles {
		if l.relaxes(a.Name) {
			continue
		}
		b := bundled{Active: a, synced: synced[a.Name].At, newest: synced[a.Name].Version}
		l.addBundle(dir, filepath.Join(p.dir, sync.Dir), &b, i+1)
		l.bundles = append(l.bundles, b)
	}
}

// A deepFS opens a directory below once, and not with each of its files anew: a
// bundle lies four directories deep and has many.
type deepFS struct{ ownedFS }

// Sub implements [fs.SubFS].
func (d deepFS) Sub(name string) (fs.FS, error) {
	root, err := d.root.OpenRoot(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	return deepFS{ownedFS{root: root, dir: filepath.Join(d.dir, filepath.FromSlash(name)), owner: d.owner}}, nil // closed with the last that holds it
}

// stateFile reads a file that says what is in force.
func stateFile(p *place, name string) ([]byte, error) {
	if _, err := fs.Lstat(p.files, name); err != nil {
		return nil, plain(err)
	}
	data, err := load.ReadFile(p.files, name, maxState)
	return data, behind(name, err)
}

// maxState bounds the files of the managed directory that say what is in force.
const maxState = 1 << 20

func (p *place) has(name string) bool {
	_, err := fs.Lstat(p.files, name)
	return !errors.Is(err, fs.ErrNotExist)
}

// readSynced reads when bundles were last found to be the newest. A file that
// cannot be read is as good as none: then they are as old as can be.
func (l *loaded) readSynced(p *place) sync.Synced {
	data, err := stateFile(p, sync.SyncedFile)
	if err == nil {
		var s sync.Synced
		if s, err = sync.ParseSynced(data); err == nil {
			return s
		}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		l.notices = append(l.notices, fmt.Sprintf("%s: %s", filepath.Join(p.dir, sync.SyncedFile), err))
	}
	return nil
}

// addBundle loads one bundle, the one of that place in their order.
func (l *loaded) addBundle(dir fs.FS, where string, b *bundled, order int) {
	as := scopes.Source{
		Name: "managed:" + b.Name, Scope: hook.Policy, Authority: hook.Managed, Digest: b.Digest, Order: order,
		Bundle: &hook.Bundle{Name: b.Name, Version: b.Version, Digest: b.Digest, Record: b.Record},
	}
	where = filepath.Join(where, filepath.FromSlash(b.Dir), sync.FilesDir)
	l.dirs[as.Name] = where
	src, err := l.openBundle(dir, where, b, as)
	if err != nil {
		as.Faults = []hook.Fault{*hook.Faultf(hook.FaultLoad, "the bundle %s version %d is broken on this disk: %w; %s", b.Name, b.Version, err, remedy)}
		src = as
	}
	b.broken = len(src.Faults) > 0
	l.sources = append(l.sources, src)
}

func (l *loaded) openBundle(dir fs.FS, where string, b *bundled, as scopes.Source) (scopes.Source, error) {
	if b.newest > b.Version { // somebody put an older pointer in its place; an interrupted activation never leaves that
		return as, fmt.Errorf("version %d was in force here, which is newer", b.newest)
	}
	files, err := b.Open(dir)
	if err != nil {
		return as, err
	}
	if b.manifest, err = bundles.ReadManifest(files); err != nil {
		return as, err
	}
	for _, other := range l.bundles {
		if root, both := b.manifest.Overlap(other.manifest); both && !other.broken {
			return as, fmt.Errorf("data.%s is the bundle %s's, too", path.Clean("/" + root)[1:], other.Name)
		}
	}
	c := load.Bundle(files, b.manifest.Roots, filepath.ToSlash(where), as)
	for i, f := range c.Source.Faults {
		c.Source.Faults[i] = *hook.Faultf(f.Kind, "%s version %d: %w", b.Name, b.Version, f.Err)
	}
	if b.Record || len(c.Source.Faults) > 0 {
		return *c.Source, nil // on trial its settings have no part in what happens
	}
	l.layers = append(l.layers, c.Layers...)
	for tool, schema := range c.Schemas {
		if _, taken := l.schemas[tool]; !taken {
			if l.schemas == nil {
				l.schemas = load.ToolSchemas{}
			}
			l.schemas[tool] = schema
		}
	}
	return *c.Source, nil
}

// named are the bundles as a decision names them.
func (l *loaded) named() []hook.Bundle {
	var list []hook.Bundle
	for _, b := range l.bundles {
		list = append(list, hook.Bundle{Name: b.Name, Version: b.Version, Digest: b.Digest, Record: b.Record})
	}
	return list
}

// An aged is a bundle that is too old, and what follows.
type aged struct {
	name    string
	text    string // a whole sentence
	follows scopes.Consequence
}

// aged lists what is wrong with the age of bundles. A clock that was set back
// makes nothing young again: it is never earlier than the last sync.
func (l *loaded) aged(now time.Time, s scopes.Stale) []aged {
	for _, b := range l.bundles {
		if b.synced.After(now) {
			now = b.synced
		}
	}
	var list []aged
	for _, b := range l.bundles {
		what := fmt.Sprintf("the bundle %s version %d", b.Name, b.Version)
		end := b.manifest.Gate.Expires
		switch {
		case b.Record:
		case !end.IsZero() && !now.Before(end):
			list = append(list, aged{b.Name, fmt.Sprintf("%s expired on %s", what, end.UTC().Format("2006-01-02 15:04 MST")), s.Expired})
		case b.synced.IsZero():
			list = append(list, aged{b.Name, what + " was never synced with where it comes from", s.Then})
		case now.Sub(b.synced) > s.After:
			list = append(list, aged{b.Name, fmt.Sprintf("%s was last synced on %s, more than %s ago", what,
				b.synced.UTC().Format("2006-01-02 15:04 MST"), span(s.After)), s.Then})
		}
	}
	return list
}

// span writes a time in days where it is whole days.
func span(d time.Duration) string {
	if days := d / (24 * time.Hour); days > 0 && d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%d days", days)
	}
	return d.String()
}

const staleSource = "managed age"

// weighAge lets the age of bundles have its consequence. The policies stay as
// they are.
func (l *loaded) weighAge(now time.Time, s scopes.Stale) {
	src := scopes.Source{Name: staleSource, Scope: hook.Policy, Authority: hook.Managed}
	for _, a := range l.aged(now, s) {
		text := a.text + "; " + remedy
		if slices.Contains(l.recovery.Aged, a.name) {
			a.follows = scopes.StaleWarn
		}
		switch a.follows {
		case scopes.StaleClose:
			src.Faults = append(src.Faults, *hook.Faultf(hook.FaultLoad, "%s", text))
		case scopes.StaleAsk:
			l.ageing = append(l.ageing, text) // the reason says it, too, where it has a part in the decision
			l.says(&src, "gate.age", hook.Reason{Effect: hook.Ask, Reason: text})
		default:
			l.ageing = append(l.ageing, text)
		}
	}
	if len(src.Faults)+len(src.Hooks) > 0 {
		l.sources = append(l.sources, src)
	}
}

// ageWarnings are the sentences about old bundles that a decision does not give
// as its reason.
func (l *loaded) ageWarnings(d *hook.Decision) []string {
	return slices.DeleteFunc(slices.Clone(l.ageing), func(text string) bool {
		return slices.ContainsFunc(d.Reasons, func(r hook.Reason) bool { return r.Source == staleSource && r.Reason == text })
	})
}

// says gives a source of gate's own one hook, which says one thing about each
// tool call.
func (l *loaded) says(src *scopes.Source, id string, r hook.Reason) {
	if slices.ContainsFunc(src.Hooks, func(h *hook.Hook) bool { return h.ID == id }) {
		return
	}
	src.Hooks = append(src.Hooks, &hook.Hook{
		ID: id, Kind: hook.Inline, Scope: src.Scope, Authority: src.Authority, Source: src.Name, Events: []hook.Name{hook.PreToolUse},
	})
	if l.spoiled == nil {
		l.spoiled = spoiled{}
	}
	r.Source = src.Name
	l.spoiled[src.Name] = r
}
