// Package sources loads hooks and settings from the files of this machine: the library,
// managed files and signed bundles, the user's, plugins', a project's, and what is
// registered in a session.
//
// A file that cannot be read is a fault of its source, never an error. The package
// weighs no settings against each other and evaluates nothing: package setup does.
// Start with Load.
package sources

import (
	"errors"
	"fmt"
	"slices"

	"gate/hook"
	"gate/internal/consent"
	"gate/internal/core"
	"gate/internal/lastgood"
	"gate/internal/load"
	"gate/internal/places"
	"gate/internal/sealed"
	"gate/internal/setting"
	"gate/scopes"
)

// pluginsDir lies below the managed and the user directory: plugins that settings may
// switch on, by name.
const pluginsDir = "plugins"

// For says whom and what sources are loaded for.
type For struct {
	core.Machine
	Anyones bool          // whose the managed and the user's files are does not count
	Live    bool          // a call is about to be made
	Foreign bool          // the agent does not run the hooks of plugins, skills and sub-agents itself
	Session *core.Session // of the event; nil: of none
	Event   *hook.Event   // that is about to be judged; nil where session is
}

// Loaded is everything that hooks and settings come from, as found on this
// machine, or for one call all that may concern it, with what only this program needs of it.
type Loaded struct {
	core.Found
	Lib      []scopes.Module  // data.gate.lib
	Signed   []Bundle         // in force, in their order
	Schemas  load.ToolSchemas // of tools, from bundles
	recovery sealed.Recovery  // that is good on this machine now; zero: none
}

// Load reads the settings and hooks that concern a project. It never
// fails: what cannot be read becomes a fault of its source, and the source's
// authority decides what that means (rule 2). If a call is about to be made,
// what was read without a fault is remembered as good.
func Load(s For) Loaded {
	d := s.Dirs
	out := Loaded{Found: core.Found{Where: map[string]string{}}}
	good := lastgood.In(d.State)
	managed := s.open(d.Managed, places.ManagedFiles(d))
	if d.ManagedNamed && managed != nil {
		out.Notices = append(out.Notices, places.NamedManaged(d))
	}
	own, lib := Library(setting.LibraryAuthority(managed != nil))
	out.Sources, out.Lib = append(out.Sources, own), lib
	out.read(managed, scopes.Source{Name: "managed", Scope: hook.Policy, Authority: hook.Managed})
	out.addRecovery(managed)
	out.addBundles(managed)
	user := s.open(d.User, places.UserFiles())
	if d.State != "" {
		good.Guard(user)
	}
	out.read(user, scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User})
	out.addPlugins(s, managed, user)
	if s.Project != "" {
		p := places.Open(s.Project, places.ProjectDir, nil)
		trusted := out.trust(p, s, hook.Project)
		out.read(p, scopes.Source{Name: "project", Scope: hook.Session, Authority: hook.Project, Trusted: trusted})
		p.Close()
	}
	broken := func(src scopes.Source) bool { return src.Closes() && len(src.Faults) > 0 }
	if s.Live && user != nil && d.State != "" && !slices.ContainsFunc(out.Sources, broken) {
		good.KeepAll(user)
	}
	managed.Close()
	user.Close()
	return out
}

// open opens one of gate's own directories, nil where nobody named one.
func (s For) open(dir string, owner *places.Owner) *places.Place {
	if dir == "" {
		return nil
	}
	if s.Anyones {
		owner = nil
	}
	return places.Open(dir, ".", owner)
}

// read takes in the settings and the hooks of a place.
func (l *Loaded) read(p *places.Place, as scopes.Source) {
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
func (l *Loaded) add(s scopes.Source) {
	if len(s.Hooks)+len(s.Modules)+len(s.Faults) > 0 {
		l.Sources = append(l.Sources, s)
	}
}

// untold is no digest of anything. It asks whether there is any trust at all,
// before the trouble of reading a directory.
const untold = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

// trust reports whether a person trusted the place as it is. If so, its files
// are from now on those that were compared, held in memory (rule 6).
func (l *Loaded) trust(p *places.Place, s For, a hook.Authority) bool {
	if p == nil || p.Err != nil || s.State == "" {
		return false
	}
	err := func() error {
		store := s.Grants()
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

// Clone returns what was loaded, so that it can be weighed and added to.
func (l Loaded) Clone() Loaded {
	l.Found = l.Found.Clone()
	return l
}
