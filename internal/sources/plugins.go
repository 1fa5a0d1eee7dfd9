package sources

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gate/hook"
	"gate/internal/load"
	"gate/internal/places"
	"gate/internal/setting"
	"gate/scopes"
)

// addPlugins loads the plugins that settings switch on: the managed one of a
// name, else the user's.
func (l *Loaded) addPlugins(s For, above ...*places.Place) {
	if !slices.ContainsFunc(l.Layers, func(y scopes.Layer) bool { return len(y.Plugins) > 0 }) {
		return
	}
	settings, err := setting.Combine(l.Layers...)
	if err != nil {
		return // whoever combines all of them says so
	}
	for _, name := range slices.Sorted(maps.Keys(settings.Plugins)) {
		if settings.PluginEnabled(name) {
			l.addPlugin(s, name, settings.PluginDirs[name], above)
		}
	}
}

// addPlugin loads one plugin. What is wrong with it is loud, and the rest holds.
func (l *Loaded) addPlugin(s For, name string, at setting.PluginDir, above []*places.Place) {
	p, err := openPlugin(s, name, at, above)
	if err == nil && p.Err != nil {
		err = fmt.Errorf("%s: %w", p.Dir, p.Err)
	}
	if err != nil {
		l.Sources = append(l.Sources, scopes.Source{
			Name: "plugin:" + name, Scope: hook.Plugin, Authority: hook.PluginAuthor,
			Faults: []hook.Fault{{Kind: hook.FaultLoad, Err: err}},
		})
		return
	}
	defer p.Close()
	trusted := l.trust(p, s, hook.PluginAuthor)
	l.Where["plugin:"+name] = p.Dir
	l.add(load.At(p.Dir, load.Plugin(p.Files, name, trusted, s.Foreign)))
}

// openPlugin finds where a plugin lies.
func openPlugin(s For, name string, at setting.PluginDir, above []*places.Place) (*places.Place, error) {
	if !plainName(name) {
		return nil, fmt.Errorf("plugin %q: its name is no name of a directory", name)
	}
	if at.Dir != "" {
		owner := places.UserFiles()
		if at.By == hook.Managed {
			owner = places.ManagedFiles(s.Dirs)
		}
		if p := s.open(filepath.Clean(at.Dir), owner); p != nil {
			return p, nil
		}
		return nil, fmt.Errorf("plugin %q is switched on, but missing in %s", name, at.Dir)
	}
	var looked []string
	for _, outer := range above {
		if outer == nil || outer.Err != nil {
			continue
		}
		if p := places.Open(outer.Dir, filepath.Join(pluginsDir, name), outer.Owner); p != nil {
			return p, nil
		}
		looked = append(looked, filepath.Join(outer.Dir, pluginsDir))
	}
	return nil, fmt.Errorf("plugin %q is switched on, but missing in %s", name, strings.Join(looked, " or "))
}

// plainName reports a name that means one file or directory and nothing else.
func plainName(name string) bool {
	return name != "" && len(name) <= 128 && utf8.ValidString(name) && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, `/\:`) &&
		!strings.ContainsFunc(name, unicode.IsControl) && filepath.IsLocal(name)
}
