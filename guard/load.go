package guard

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"gate/engine/handlers"
	"gate/hook"
	"gate/hostfs"
	"gate/policies"
	"gate/scopes"
	"gate/scopes/load"
)

// A loader collects what decides.
type loader struct {
	Options
	lib     []scopes.Module
	sources []scopes.Source
	layers  []scopes.Layer
	dirs    map[string]string
	errs    []error
}

func (l *loader) bad(format string, args ...any) {
	l.errs = append(l.errs, fmt.Errorf(format, args...))
}

// library loads what gate brings. The helpers are there for every policy.
func (l *loader) library() {
	as := scopes.Source{Name: "library", Scope: hook.Policy, Authority: scopes.LibraryAuthority(l.Managed != ""), Library: true}
	s, modules := load.Indexed(policies.FS(), policies.Index(), as)
	l.lib = modules
	if !l.WithoutLibrary {
		l.sources = append(l.sources, s)
	}
}

// directory loads one of gate's directories.
func (l *loader) directory(dir, name string, s hook.Scope, a hook.Authority) {
	if dir == "" {
		return
	}
	if !filepath.IsAbs(dir) {
		l.bad("%s directory %s: the path must be absolute", name, dir)
		return
	}
	root, err := hostfs.OpenDir(dir)
	if err != nil {
		l.bad("%s directory: %w", name, err)
		return
	}
	defer root.Close()
	l.read(hostfs.Dir{Root: root}, dir, scopes.Source{Name: name, Scope: s, Authority: a})
}

// project loads the .gate of the project, if it has one.
func (l *loader) project() {
	if !filepath.IsAbs(l.Project) {
		l.bad("project %s: the path must be absolute", l.Project)
		return
	}
	as := scopes.Source{Name: "project", Scope: hook.Session, Authority: hook.Project}
	root, err := hostfs.OpenDir(l.Project)
	if err != nil {
		l.bad("project: %w", err)
		return
	}
	defer root.Close()
	dir := filepath.Join(l.Project, ".gate")
	inner, err := hostfs.OpenDirIn(root, ".gate")
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		as.Faults = []hook.Fault{*hook.Faultf(hook.FaultLoad, "%s: %w", dir, err)}
		l.sources = append(l.sources, as)
	default:
		defer inner.Close()
		l.read(hostfs.Dir{Root: inner}, dir, as)
	}
}

// read takes in the settings and hooks of a directory.
func (l *loader) read(files fs.FS, dir string, as scopes.Source) {
	layers, sources := load.Place(files, dir, as)
	l.layers = append(l.layers, layers...)
	l.add(dir, sources...)
}

// add adds sources whose files lie in dir.
func (l *loader) add(dir string, sources ...scopes.Source) {
	for _, s := range sources {
		l.dirs[s.Name] = dir
	}
	l.sources = append(l.sources, sources...)
}

// plugins loads the plugins that settings switch on: the managed one of a name,
// else the user's.
func (l *loader) plugins(settings scopes.Settings) {
	for _, name := range slices.Sorted(maps.Keys(settings.Plugins)) {
		if !settings.PluginEnabled(name) {
			continue
		}
		if !filepath.IsLocal(name) || filepath.Base(name) != name {
			l.bad("plugin %q: its name is no name of a directory", name)
			continue
		}
		dirs := []string{settings.PluginDirs[name].Dir}
		if dirs[0] == "" {
			dirs = nil
			for _, outer := range []string{l.Managed, l.User} {
				if outer != "" {
					dirs = append(dirs, filepath.Join(outer, "plugins", name))
				}
			}
		}
		if !l.plugin(name, dirs) {
			l.bad("plugin %q is switched on, and there is none in %q", name, dirs)
		}
	}
}

// plugin loads the first directory that is there, with what the plugin has for
// agents: a program that embeds gate runs none of that itself.
func (l *loader) plugin(name string, dirs []string) bool {
	for _, dir := range dirs {
		root, err := hostfs.OpenDir(dir)
		if err != nil {
			continue
		}
		defer root.Close()
		l.add(dir, load.At(dir, load.Plugin(hostfs.Dir{Root: root}, name, false, true)))
		return true
	}
	return false
}

// functions makes sources of the program's own hooks.
func (l *loader) functions() map[string]handlers.Inline {
	inline := map[string]handlers.Inline{}
	above := scopes.Source{Name: "program policy", Scope: hook.Policy, Authority: hook.Managed}
	below := scopes.Source{Name: "program", Scope: hook.Session, Authority: hook.User}
	for i, given := range l.Hooks {
		src := &below
		if given.Authority == hook.Managed {
			src = &above
		}
		h := given.Hook
		h.Kind, h.Scope, h.Authority, h.Source, h.Library = hook.Inline, src.Scope, src.Authority, src.Name, false
		switch {
		case h.ID == "" || given.Func == nil || len(h.Events) == 0:
			l.bad("hook %d (%q): it needs an ID, Events and a Func", i, h.ID)
		case inline[h.ID] != nil:
			l.bad("hook %d: there is another with the ID %q", i, h.ID)
		default:
			inline[h.ID], src.Hooks = given.Func, append(src.Hooks, &h)
		}
	}
	for _, src := range []scopes.Source{above, below} {
		if len(src.Hooks) > 0 {
			l.sources = append(l.sources, src)
		}
	}
	return inline
}

// closing are the mistakes that would close every call.
func (l *loader) closing() (errs []error) {
	for i := range l.sources {
		if src := &l.sources[i]; src.Closes() {
			for j := range src.Faults {
				errs = append(errs, fmt.Errorf("%s: %w", src.Name, &src.Faults[j]))
			}
		}
	}
	return errs
}
