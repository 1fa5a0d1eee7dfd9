package scopes

import (
	"errors"
	"fmt"

	"gate/hook"
)

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
