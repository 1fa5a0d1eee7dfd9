package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gate/hook"
	"gate/scopes"
	"gate/scopes/load"
)

// addPlugins loads the plugins that settings switch on: the managed one of a
// name, else the user's.
func (l *loaded) addPlugins(s setting, places ...*place) {
	if !slices.ContainsFunc(l.layers, func(y scopes.Layer) bool { return len(y.Plugins) > 0 }) {
		return
	}
	settings, err := scopes.Combine(l.layers...)
	if err != nil {
		return // whoever combines all of them says so
	}
	for _, name := range slices.Sorted(maps.Keys(settings.Plugins)) {
		if settings.PluginEnabled(name) {
			l.addPlugin(s, name, settings.PluginDirs[name], places)
		}
	}
}

// addPlugin loads one plugin. What is wrong with it is loud, and the rest holds.
func (l *loaded) addPlugin(s setting, name string, at scopes.PluginDir, places []*place) {
	p, err := openPlugin(s, name, at, places)
	defer p.close()
	if err == nil && p.err != nil {
		err = fmt.Errorf("%s: %w", p.dir, p.err)
	}
	if err != nil {
		l.sources = append(l.sources, scopes.Source{
			Name: "plugin:" + name, Scope: hook.Plugin, Authority: hook.PluginAuthor,
			Faults: []hook.Fault{{Kind: hook.FaultLoad, Err: err}},
		})
		return
	}
	trusted := p.trust(grants(s.dirs), hook.PluginAuthor, &l.notices)
	l.dirs["plugin:"+name] = p.dir
	l.add(load.Plugin(p.files, name, trusted, s.foreign), p.dir)
}

// openPlugin finds where a plugin lies.
func openPlugin(s setting, name string, at scopes.PluginDir, places []*place) (*place, error) {
	if !plainName(name) {
		return nil, fmt.Errorf("plugin %q: its name is no name of a directory", name)
	}
	if at.Dir != "" {
		owner := userFiles()
		if at.By == hook.Managed {
			owner = managedFiles(s.dirs)
		}
		if p := openPlace(filepath.Clean(at.Dir), ".", owner); p != nil {
			return p, nil
		}
		return nil, fmt.Errorf("plugin %q is switched on, but there is none in %s", name, at.Dir)
	}
	var looked []string
	for _, outer := range places {
		if outer == nil || outer.err != nil {
			continue
		}
		if p := openPlace(outer.dir, filepath.Join(pluginsDir, name), outer.owner); p != nil {
			return p, nil
		}
		looked = append(looked, filepath.Join(outer.dir, pluginsDir))
	}
	return nil, fmt.Errorf("plugin %q is switched on, but there is none in %s", name, strings.Join(looked, " or "))
}

// plainName reports a name that means one file or directory and nothing else.
func plainName(name string) bool {
	return name != "" && len(name) <= 128 && utf8.ValidString(name) && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, `/\:`) &&
		!strings.ContainsFunc(name, unicode.IsControl) && filepath.IsLocal(name)
}
