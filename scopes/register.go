package scopes

import (
	"errors"
	"slices"

	"gate/hook"
)

// Registered is the name of the source of hooks that are registered while a
// session runs.
const Registered = "registered"

// Register returns a set with more hooks, of Session scope and project
// authority whatever they claim: they can only tighten. The hooks
// themselves are not changed. Hooks that do not fit, such as a second one with
// the same id, are the error; the set stays as it is.
func (s *Set) Register(hooks ...*hook.Hook) (*Set, error) {
	given := slices.Clone(s.given)
	i := slices.IndexFunc(given, func(src Source) bool { return src.Name == Registered })
	if i < 0 {
		i = len(given)
		given = append(given, Source{Name: Registered, Scope: hook.Session, Authority: hook.Project, Tightens: true})
	}
	src := &given[i]
	src.Hooks = slices.Clone(src.Hooks)
	for _, h := range hooks {
		c := *h
		c.Scope, c.Authority, c.Library, c.Source = src.Scope, src.Authority, false, src.Name
		src.Hooks = append(src.Hooks, &c)
	}
	next, err := New(given, s.settings)
	if err != nil {
		return nil, err
	}
	for _, src := range next.sources {
		if src.Name == Registered && len(src.Faults) > 0 {
			var errs []error
			for i := range src.Faults {
				errs = append(errs, &src.Faults[i])
			}
			return nil, errors.Join(errs...)
		}
	}
	return next, nil
}
