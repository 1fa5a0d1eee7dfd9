package sources

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"time"

	"gate/bundles"
	"gate/hook"
	"gate/internal/core"
	"gate/internal/hostfs"
	"gate/internal/load"
	"gate/internal/places"
	"gate/internal/sealed"
	"gate/internal/sync"
	"gate/scopes"
)

// A Bundle is a signed bundle in force, as it was found on this machine, or one on
// trial.
type Bundle struct {
	sync.Active
	Trial    bool
	Manifest bundles.Manifest
	Synced   time.Time // when it was last found to be the newest; zero: never
	newest   int64     // the version that was in force after that; 0: it is not known
	Broken   bool
}

// addBundles loads the signed bundles in force. They were verified when they
// came into force; what is checked now is whose the files are, and that they are
// those that were verified. A machine that had bundles and has none that can be
// read closes; one that never had any is enrolling, and settings say what follows.
func (l *Loaded) addBundles(p *places.Place) {
	if p == nil || p.Err != nil {
		return
	}
	current, dir, err := l.bundlesIn(p)
	switch {
	case err != nil:
		l.Sources = append(l.Sources, scopes.Source{
			Name: "managed bundles", Scope: hook.Policy, Authority: hook.Managed,
			Faults: []hook.Fault{*hook.Faultf(hook.FaultLoad, "%w; %s", err, core.Remedy)},
		})
		return
	case dir == nil:
		return
	}
	synced := l.readSynced(p)
	for i, a := range current.All() {
		if l.relaxes(a.Name) {
			continue
		}
		b := Bundle{Active: a, Trial: i >= len(current.Bundles)}
		if !b.Trial {
			b.Synced, b.newest = synced[a.Name].At, synced[a.Name].Version
		}
		l.addBundle(dir, filepath.Join(p.Dir, sync.Dir), &b, i+1)
		l.Signed = append(l.Signed, b)
		l.Bundles = append(l.Bundles, core.Bundle{Bundle: b.named(), Expires: b.Manifest.Gate.Expires, Synced: b.Synced})
	}
}

// named is the bundle as decisions name it.
func (b *Bundle) named() hook.Bundle {
	return hook.Bundle{Name: b.Name, Version: b.Version, Digest: b.Digest, Trial: b.Trial}
}

// bundlesIn says which bundles are in force and opens their directory, nil on a
// machine that takes none.
func (l *Loaded) bundlesIn(p *places.Place) (current sync.Current, dir fs.FS, err error) {
	pointer := filepath.Join(p.Dir, sync.CurrentFile)
	data, err := stateFile(p, sync.CurrentFile)
	if errors.Is(err, fs.ErrNotExist) {
		l.TakesBundles = p.Has(sync.KeysFile) || p.Has(sync.SeenFile)
		if l.Enrolling = l.TakesBundles && !hadBundles(p); l.Enrolling {
			return current, nil, nil
		}
		if l.TakesBundles {
			return current, nil, fmt.Errorf("%s: this machine takes signed bundles, and none is in force", pointer)
		}
		return current, nil, nil
	}
	if err != nil {
		return current, nil, fmt.Errorf("%s: %w", pointer, err)
	}
	l.TakesBundles = true
	current, err = sync.ParseCurrent(data)
	if err == nil && len(current.All()) == 0 {
		err = errors.New("it names no bundle")
	}
	if err != nil {
		return current, nil, fmt.Errorf("%s: %w", pointer, err)
	}
	// Whoever could write there could bring an older pointer back.
	if _, err := fs.Stat(p.Files, sync.Dir); err != nil {
		return current, nil, fmt.Errorf("%s: %w", filepath.Join(p.Dir, sync.Dir), hostfs.Reason(err))
	}
	l.Enrolling = len(current.Bundles) == 0 // trials do not count
	dir, err = p.Below(sync.Dir)
	return current, dir, err
}

// hadBundles reports that a bundle was in force on this machine, or that nobody can
// tell.
func hadBundles(p *places.Place) bool {
	if p.Has(sync.Damaged(sync.SeenFile)) || p.Has(sync.Damaged(sync.CurrentFile)) {
		return true
	}
	data, err := stateFile(p, sync.SeenFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	seen, wrong := sealed.ParseSeen(data)
	return err != nil || wrong != nil || len(seen.Bundles) > 0
}

// Bundles loads the signed bundles in force, and nothing else.
func Bundles(managed *places.Place) Loaded {
	l := Loaded{Found: core.Found{Where: map[string]string{}}}
	l.addBundles(managed)
	return l
}

// Current are the bundles in force, none where nothing says so.
func Current(p *places.Place) (sync.Current, error) {
	data, err := stateFile(p, sync.CurrentFile)
	if errors.Is(err, fs.ErrNotExist) {
		return sync.Current{}, nil
	}
	if err != nil {
		return sync.Current{}, err
	}
	return sync.ParseCurrent(data)
}

// stateFile reads a file that says what is in force.
func stateFile(p *places.Place, name string) ([]byte, error) {
	if _, err := fs.Lstat(p.Files, name); err != nil {
		return nil, hostfs.Reason(err)
	}
	data, err := load.ReadFile(p.Files, name, maxState)
	return data, hostfs.Behind(name, err)
}

// maxState bounds the files of the managed directory that say what is in force.
const maxState = 1 << 20

// readSynced reads when bundles were last found to be the newest. A file that
// cannot be read is as good as none: then they are as old as can be.
func (l *Loaded) readSynced(p *places.Place) sync.Synced {
	data, err := stateFile(p, sync.SyncedFile)
	if err == nil {
		var s sync.Synced
		if s, err = sync.ParseSynced(data); err == nil {
			return s
		}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		l.Notices = append(l.Notices, fmt.Sprintf("%s: %s", filepath.Join(p.Dir, sync.SyncedFile), err))
	}
	return nil
}

// addBundle loads one bundle, the one of that place in their order.
func (l *Loaded) addBundle(dir fs.FS, where string, b *Bundle, order int) {
	as := scopes.Source{
		Scope: hook.Policy, Authority: hook.Managed, Digest: b.Digest, Order: order,
	}
	named := b.named()
	as.Name, as.Bundle = named.Source(), &named
	where = filepath.Join(where, filepath.FromSlash(b.Dir), sync.FilesDir)
	l.Where[as.Name] = where
	src, err := l.openBundle(dir, where, b, as)
	if err != nil {
		as.Faults = []hook.Fault{*hook.Faultf(hook.FaultLoad, "the bundle %s version %d is broken on this disk: %w; %s", b.Name, b.Version, err, core.Remedy)}
		src = as
	}
	b.Broken = len(src.Faults) > 0
	l.Sources = append(l.Sources, src)
}

func (l *Loaded) openBundle(dir fs.FS, where string, b *Bundle, as scopes.Source) (scopes.Source, error) {
	if b.newest > b.Version { // somebody put an older pointer in its place; an interrupted activation never leaves that
		return as, fmt.Errorf("version %d was in force here, which is newer", b.newest)
	}
	files, err := b.Open(dir)
	if err != nil {
		return as, err
	}
	if b.Manifest, err = bundles.ReadManifest(files); err != nil {
		return as, err
	}
	for _, other := range l.Signed {
		if root, both := b.Manifest.Overlap(other.Manifest); both && !other.Broken && !other.Trial && other.Name != b.Name {
			return as, fmt.Errorf("data.%s is the bundle %s's, too", path.Clean("/" + root)[1:], other.Name)
		}
	}
	c := load.Bundle(files, b.Manifest.Roots, filepath.ToSlash(where), as)
	for i, f := range c.Source.Faults {
		c.Source.Faults[i] = *hook.Faultf(f.Kind, "%s version %d: %w", b.Name, b.Version, f.Err)
	}
	if b.Trial || len(c.Source.Faults) > 0 {
		return *c.Source, nil // on trial its settings have no part in what happens
	}
	l.Layers = append(l.Layers, c.Layers...)
	for tool, schema := range c.Schemas {
		if _, taken := l.Schemas[tool]; !taken {
			if l.Schemas == nil {
				l.Schemas = load.ToolSchemas{}
			}
			l.Schemas[tool] = schema
		}
	}
	return *c.Source, nil
}
