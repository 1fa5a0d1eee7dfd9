package scopes

import (
	"errors"
	"fmt"
	"slices"

	"gate/hook"
)

// Settings are the values that decide which sources take part. Who may set
// what is decided here, not in the files: a value of an authority that may not
// set it is an error. The zero Settings switch nothing off.
type Settings struct {
	// DisableAllHooks holds disableAllHooks by the authority of the settings
	// file it stands in. It switches off everything of its own authority and
	// below. Plugins and skills have none.
	DisableAllHooks map[hook.Authority]bool

	// ManagedHooksOnly is allowManagedHooksOnly of the managed settings; the
	// reader must not fill it from any other. Only managed sources take part.
	ManagedHooksOnly bool
}

// level orders authorities: who stands above whom (DESIGN 8). Project and
// local stand side by side.
func level(a hook.Authority) int {
	switch a {
	case hook.Managed:
		return 1
	case hook.User:
		return 2
	case hook.PluginAuthor:
		return 3
	case hook.Project, hook.Local:
		return 4
	}
	return 5
}

func (s Settings) check() error {
	var errs []error
	for a := range s.DisableAllHooks {
		switch a {
		case hook.Managed, hook.User, hook.Project, hook.Local:
		default:
			errs = append(errs, fmt.Errorf("disableAllHooks of %s: only managed, user, project and local settings have it", a))
		}
	}
	slices.SortFunc(errs, compareText)
	return errors.Join(errs...)
}

// off reports whether sources of an authority are switched off.
func (s Settings) off(a hook.Authority) bool {
	if s.ManagedHooksOnly && a != hook.Managed {
		return true
	}
	for by, disabled := range s.DisableAllHooks {
		if disabled && level(a) >= level(by) {
			return true
		}
	}
	return false
}

// StatusLineOff reports whether the status line and file suggestions are
// switched off too: managed disableAllHooks means everything.
func (s Settings) StatusLineOff() bool { return s.DisableAllHooks[hook.Managed] }

// disabled says whose settings disable hooks, the highest first.
func (s Settings) disabled() string {
	for a := hook.Managed; a.Valid(); a++ {
		if s.DisableAllHooks[a] {
			return fmt.Sprintf("%s settings disable hooks of %s authority and below", a, a)
		}
	}
	return ""
}

// LibraryAuthority returns the authority of the embedded library beside the
// other sources: managed on a machine with managed sources, else the user's
// (DESIGN 8).
func LibraryAuthority(managedSources bool) hook.Authority {
	if managedSources {
		return hook.Managed
	}
	return hook.User
}

// Inactive reports whether the source's faults switch it off: a broken plugin,
// project or skill source is announced and does not run (DESIGN 9).
func (src *Source) Inactive() bool { return len(src.Faults) > 0 && !src.Closes() }

// Closes reports whether a source that could not be loaded closes every event.
func (src *Source) Closes() bool {
	return src.Library || src.Authority == hook.Managed || src.Authority == hook.User
}

// Loosens reports whether rewrites, consults and handlers of the source count:
// its authority needs no trust, or a person gave it.
func (src *Source) Loosens() bool { return src.Trusted || !src.Authority.NeedsTrust() }

// mayStand says which authority may stand in which scope.
func mayStand(scope hook.Scope, a hook.Authority, library bool) bool {
	switch scope {
	case hook.Policy:
		return a == hook.Managed || a == hook.User && library
	case hook.Plugin:
		return a == hook.PluginAuthor
	case hook.Session:
		return a == hook.User || a == hook.Project || a == hook.Local
	case hook.Skill:
		return a == hook.SkillAuthor
	}
	return false
}

func checkSources(sources []Source) error {
	var errs []error
	seen := map[string]bool{}
	for i, src := range sources {
		switch {
		case src.Name == "":
			errs = append(errs, fmt.Errorf("source %d has no name", i+1))
		case seen[src.Name]:
			errs = append(errs, fmt.Errorf("two sources are named %q", src.Name))
		}
		seen[src.Name] = true
		if !mayStand(src.Scope, src.Authority, src.Library) {
			errs = append(errs, fmt.Errorf("source %q: authority %s cannot stand in scope %s", src.Name, src.Authority, src.Scope))
		}
	}
	return errors.Join(errs...)
}

func compareText(a, b error) int {
	switch {
	case a.Error() < b.Error():
		return -1
	case a.Error() > b.Error():
		return 1
	}
	return 0
}
