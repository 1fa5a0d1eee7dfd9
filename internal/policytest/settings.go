package policytest

import (
	"errors"
	"regexp"
	"sync"
	"testing/fstest"

	"gate/hook"
	"gate/internal/load"
	"gate/internal/strictjson"
	"gate/scopes"
)

// layers reads the settings of a case's world.
func (w *CaseWorld) layers() ([]scopes.Layer, error) {
	var layers []scopes.Layer
	var errs []error
	for _, whose := range authorities {
		if said := w.Setting[whose]; said != nil {
			c := readSettings(whose, said)
			layers = append(layers, c.Layers...)
			if c.Source != nil {
				errs = append(errs, joined(c.Source.Faults))
			}
		}
	}
	return layers, errors.Join(errs...)
}

func readSettings(whose string, said map[string]any) load.Configuration {
	name := load.SettingsStem + ".json"
	if whose == "local" {
		name = load.LocalSettingsStem + ".json"
	}
	files := fstest.MapFS{name: {Data: strictjson.Append(nil, said)}}
	_, authority := standing(whose)
	return load.Settings(files, whose+" settings of the case", authority)
}

// settingsProblems says what is wrong with the settings of a case.
func settingsProblems(whose string, said map[string]any) []string {
	var list []string
	if c := readSettings(whose, said); c.Source != nil {
		for _, f := range c.Source.Faults {
			list = append(list, inSettings().ReplaceAllString(f.Error(), ""))
		}
		if len(c.Source.Hooks) > 0 {
			list = append(list, "hooks other than policies are not run in event cases; remove them")
		}
	}
	return list
}

// inSettings is the position within settings that stand in a case.
var inSettings = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]+ settings of the case/settings[a-z.]*:\d+: `) })

// standing returns where the sources of a word such as user stand.
func standing(whose string) (hook.Scope, hook.Authority) {
	switch whose {
	case "managed":
		return hook.Policy, hook.Managed
	case "project":
		return hook.Session, hook.Project
	case "local":
		return hook.Session, hook.Local
	case "", "user":
		return hook.Session, hook.User
	}
	return hook.Plugin, hook.PluginAuthor
}
