package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"gate/bundles"
	"gate/consent"
	"gate/hook"
	"gate/policies"
	"gate/scopes"
	"gate/scopes/load"
)

// Names below gate's directories.
const (
	policyDir  = load.PoliciesDir
	projectDir = ".gate"   // of a project
	pluginsDir = "plugins" // below the managed and the user directory: plugins that settings may switch on, by name
)

// loaded is everything that hooks and settings come from, as found on this
// machine.
type loaded struct {
	lib     []scopes.Module // data.gate.lib
	sources []scopes.Source
	layers  []scopes.Layer
	dirs    map[string]string // where a source's files are, by its name
	notices []string          // what shaped every decision and a person should know
	spoiled spoiled           // reasons of hooks that gate itself speaks for

	bundles      []bundled        // in force, in their order
	takesBundles bool             // this machine takes signed bundles, whether or not there are any
	schemas      load.ToolSchemas // of tools, from bundles
	ageing       []string         // bundles that are too old
	recovery     bundles.Recovery // that is good on this machine now; zero: none
	relaxed      string           // a sentence about it
}

// loadSources reads the settings and hooks that concern a project. It never
// fails: what cannot be read becomes a fault of its source, and the source's
// authority decides what that means (DESIGN 9). If a call is about to be made,
// what was read without a fault is remembered as good.
func loadSources(s setting, library fs.FS) loaded {
	d := s.dirs
	out := loaded{dirs: map[string]string{}}
	store, good := grants(d), memoryOf(d)
	managed := openPlace(d.managed, ".", managedFiles(d))
	if d.managedNamed && managed != nil {
		out.notices = append(out.notices, "managed policies come from "+d.managed+", as the command line says")
	}
	out.addLibrary(library, scopes.LibraryAuthority(managed != nil))
	out.read(managed, scopes.Source{Name: "managed", Scope: hook.Policy, Authority: hook.Managed})
	out.addRecovery(managed)
	out.addBundles(managed)
	user := openPlace(d.user, ".", userFiles())
	good.guard(user)
	out.read(user, scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User})
	out.addPlugins(s, managed, user)
	if s.project != "" {
		p := openPlace(s.project, projectDir, nil)
		trusted := p.trust(store, hook.Project, &out.notices)
		out.read(p, scopes.Source{Name: "project", Scope: hook.Session, Authority: hook.Project, Trusted: trusted})
		p.close()
	}
	broken := func(src scopes.Source) bool { return src.Closes() && len(src.Faults) > 0 }
	if s.live && user != nil && !slices.ContainsFunc(out.sources, broken) {
		good.keepAll(user)
	}
	managed.close()
	user.close()
	return out
}

// read takes in the settings and the hooks of a place.
func (l *loaded) read(p *place, as scopes.Source) {
	if p == nil {
		return
	}
	l.dirs[as.Name] = p.dir
	if p.err != nil {
		as.Faults = []hook.Fault{*hook.Faultf(hook.FaultLoad, "%s: %w", p.dir, p.err)}
		l.sources = append(l.sources, as)
		return
	}
	l.readSettings(p, as.Authority, as.Trusted)
	if as.Authority == hook.Project {
		l.readSettings(p, hook.Local, as.Trusted)
	}
	l.add(load.Dir(p.files, as), p.dir)
}

func (l *loaded) readSettings(p *place, a hook.Authority, trusted bool) {
	c := load.Settings(p.files, filepath.ToSlash(p.dir), a)
	l.layers = append(l.layers, c.Layers...)
	if c.Source != nil {
		c.Source.Trusted = trusted
		l.dirs[c.Source.Name] = p.dir
		l.sources = append(l.sources, *c.Source)
	}
}

// add adds a source unless there is nothing in it. Its faults begin with a file
// within dir.
func (l *loaded) add(s scopes.Source, dir string) {
	if len(s.Hooks)+len(s.Modules)+len(s.Faults) == 0 {
		return
	}
	for i, f := range s.Faults {
		s.Faults[i] = *hook.Faultf(f.Kind, "%s%w", dir+string(filepath.Separator), f.Err)
	}
	l.sources = append(l.sources, s)
}

// addLibrary loads the policies that gate brings.
func (l *loaded) addLibrary(files fs.FS, a hook.Authority) {
	as := scopes.Source{Name: "library", Scope: hook.Policy, Authority: a, Library: true}
	if index, err := fs.ReadFile(files, policies.IndexFile); err == nil {
		s, modules := load.Indexed(files, index, as)
		l.lib = modules
		l.sources = append(l.sources, s)
		return
	}
	modules, faults := load.Lib(files)
	l.lib = modules
	s := load.Rego(files, as)
	s.Faults = append(s.Faults, faults...)
	l.sources = append(l.sources, s)
}

// grants is where a person's grants are kept: below the state directory, which
// agents' tools are denied.
func grants(d dirs) consent.Store { return consent.Store{Dir: filepath.Join(d.state, "consent")} }

// untold is no digest of anything. It asks whether there is any trust at all,
// before the trouble of reading a directory.
const untold = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

// trust reports whether a person trusted the place as it is. If so, its files
// are from now on those that were compared, held in memory (threat model 76).
func (p *place) trust(store consent.Store, a hook.Authority, notices *[]string) bool {
	if p == nil || p.err != nil {
		return false
	}
	err := func() error {
		origin, err := consent.OriginOf(a, p.dir)
		if err != nil {
			return err
		}
		if err := store.CheckTrust(origin, untold); err != nil && !errors.Is(err, consent.Changed) {
			return err
		}
		files, digest, err := consent.Snapshot(p.files)
		if err != nil {
			return err
		}
		if err := store.CheckTrust(origin, digest); err != nil {
			return err
		}
		p.files = files
		return nil
	}()
	var refusal consent.Refusal
	if err != nil && !errors.As(err, &refusal) {
		*notices = append(*notices, fmt.Sprintf("%s is not trusted: %s", p.dir, err))
	}
	return err == nil
}
