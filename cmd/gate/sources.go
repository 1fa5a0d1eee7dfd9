package main

import (
	"errors"
	"fmt"
	"slices"

	"gate/bundles"
	"gate/cmd/internal/forms"
	"gate/cmd/internal/hookpath"
	"gate/cmd/internal/lastgood"
	"gate/cmd/internal/places"
	"gate/consent"
	"gate/hook"
	"gate/policies"
	"gate/scopes"
	"gate/scopes/load"
)

// Names below gate's directories.
const (
	policyDir  = load.PoliciesDir
	projectDir = places.ProjectDir
	pluginsDir = "plugins" // below the managed and the user directory: plugins that settings may switch on, by name
)

// loaded is everything that hooks and settings come from, as found on this
// machine, or for one call all that may concern it, with what only this program needs of it.
type loaded struct {
	hookpath.Found
	lib      []scopes.Module  // data.gate.lib
	bundles  []bundled        // in force, in their order
	schemas  load.ToolSchemas // of tools, from bundles
	recovery bundles.Recovery // that is good on this machine now; zero: none
	forms    *forms.Forms     // nil: all of it was read from files
}

// loadSources reads the settings and hooks that concern a project. It never
// fails: what cannot be read becomes a fault of its source, and the source's
// authority decides what that means (rule 2). If a call is about to be made,
// what was read without a fault is remembered as good.
func loadSources(s setting) loaded {
	d := s.dirs
	out := loaded{Found: hookpath.Found{Where: map[string]string{}}}
	store, good := d.Grants(), lastgood.In(d.State)
	managed := places.Open(d.Managed, ".", places.ManagedFiles(d))
	if d.ManagedNamed && managed != nil {
		out.Notices = append(out.Notices, places.NamedManaged(d))
	}
	own, lib := library(scopes.LibraryAuthority(managed != nil))
	out.Sources, out.lib = append(out.Sources, own), lib
	out.read(managed, scopes.Source{Name: "managed", Scope: hook.Policy, Authority: hook.Managed})
	out.addRecovery(managed)
	out.addBundles(managed)
	user := places.Open(d.User, ".", places.UserFiles())
	good.Guard(user)
	out.read(user, scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User})
	out.addPlugins(s, managed, user)
	if s.project != "" {
		p := places.Open(s.project, projectDir, nil)
		trusted := out.trust(p, store, hook.Project)
		out.read(p, scopes.Source{Name: "project", Scope: hook.Session, Authority: hook.Project, Trusted: trusted})
		p.Close()
	}
	broken := func(src scopes.Source) bool { return src.Closes() && len(src.Faults) > 0 }
	if s.live && user != nil && !slices.ContainsFunc(out.Sources, broken) {
		good.KeepAll(user)
	}
	managed.Close()
	user.Close()
	return out
}

// read takes in the settings and the hooks of a place.
func (l *loaded) read(p *places.Place, as scopes.Source) {
	if p == nil {
		return
	}
	l.Where[as.Name] = p.Dir
	if p.Err != nil {
		as.Faults = []hook.Fault{*hook.Faultf(hook.FaultLoad, "%s: %w", p.Dir, p.Err)}
		l.Sources = append(l.Sources, as)
		return
	}
	layers, sources := load.Place(p.Files, p.Dir, as)
	l.Layers = append(l.Layers, layers...)
	for _, s := range sources {
		l.Where[s.Name] = p.Dir
		l.add(s)
	}
}

// add adds a source unless there is nothing in it.
func (l *loaded) add(s scopes.Source) {
	if len(s.Hooks)+len(s.Modules)+len(s.Faults) > 0 {
		l.Sources = append(l.Sources, s)
	}
}

// library returns the policies that gate brings, and data.gate.lib.
func library(a hook.Authority) (scopes.Source, []scopes.Module) {
	return load.Indexed(policies.FS(), policies.Index(), scopes.Source{Name: "library", Scope: hook.Policy, Authority: a, Library: true})
}

// untold is no digest of anything. It asks whether there is any trust at all,
// before the trouble of reading a directory.
const untold = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

// trust reports whether a person trusted the place as it is. If so, its files
// are from now on those that were compared, held in memory (rule 6).
func (l *loaded) trust(p *places.Place, store consent.Store, a hook.Authority) bool {
	if p == nil || p.Err != nil {
		return false
	}
	err := func() error {
		origin, err := consent.OriginOf(a, p.Dir)
		if err != nil {
			return err
		}
		if err := store.CheckTrust(origin, untold); err != nil && !errors.Is(err, consent.Changed) {
			return err
		}
		files, digest, err := consent.Snapshot(p.Files)
		if err != nil {
			return err
		}
		if err := store.CheckTrust(origin, digest); err != nil {
			return err
		}
		p.Files = files
		return nil
	}()
	var refusal consent.Refusal
	if err != nil && !errors.As(err, &refusal) {
		l.Notices = append(l.Notices, fmt.Sprintf("%s is not trusted: %s", p.Dir, err))
	}
	return err == nil
}
