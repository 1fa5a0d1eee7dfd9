package policytest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/load"
	"gate/internal/setting"
	"gate/scopes"
)

// sources returns the sources of a case: gate's own policies, the tested ones
// and what its world adds.
func (s *Suite) sources(c *Case) ([]scopes.Source, error) {
	w := &c.World
	library := s.options.Library
	if s.source.Library {
		library = s.source
	}
	library.Modules = s.current(library.Modules)
	library.Name, library.Scope, library.Library = "library", hook.Policy, true
	library.Authority = setting.LibraryAuthority(w.managed())
	library.Hooks = s.patient(library, func(*hook.Hook) bool { return w.library() || s.source.Library })
	list := []scopes.Source{library}
	foreign, err := s.further(c)
	if err != nil || s.source.Library {
		return append(list, foreign...), err
	}
	tested := s.source
	tested.Name = w.As
	if tested.Name == "" {
		tested.Name = "user"
	}
	tested.Scope, tested.Authority = standing(w.As)
	tested.Trusted, tested.Modules = w.trusted(), s.current(tested.Modules)
	tested.Hooks = s.patient(tested, func(h *hook.Hook) bool { return beside(h.File, c) })
	if len(tested.Hooks) == 0 && len(foreign) == 0 {
		return nil, fmt.Errorf("no policy lies beside %s or below; put the cases where the policies are", c.File)
	}
	return append(append(list, tested), foreign...), nil
}

// beside reports whether a policy is tested by the cases of a file: it lies in
// its directory or below, and not where the world takes further policies from.
func beside(file string, c *Case) bool {
	within := func(dir string) bool { return dir == "." || strings.HasPrefix(file, dir+"/") }
	if !within(path.Dir(c.File)) {
		return false
	}
	for _, dirs := range c.World.Sources {
		for _, dir := range dirs {
			if within(path.Join(path.Dir(c.File), dir)) {
				return false
			}
		}
	}
	return true
}

// policyOf names what a case is about: the policy that its file is named after, else the
// package that all of its policies are in, "" if there is none.
func (s *Suite) policyOf(c *Case) string {
	var common []string
	for _, h := range s.source.Hooks {
		if h.File == strings.TrimSuffix(c.File, CasesSuffix)+".rego" {
			return h.ID
		}
		parts := strings.Split(h.ID, ".")
		switch {
		case !beside(h.File, c):
		case common == nil:
			common = parts
		default:
			same := 0
			for same < min(len(common), len(parts)) && common[same] == parts[same] {
				same++
			}
			common = common[:same:same]
		}
	}
	return strings.Join(common, ".")
}

// fullName is the name of a case behind that of its policy.
func (s *Suite) fullName(c *Case) string {
	if policy := s.policyOf(c); policy != "" {
		return policy + ": " + c.Name
	}
	return c.Name
}

// patient returns copies of a source's hooks that keep is true for, each of the
// source's standing. Those that do not say how long they may take have the time of a
// test.
func (s *Suite) patient(src scopes.Source, keep func(*hook.Hook) bool) []*hook.Hook {
	var list []*hook.Hook
	for _, h := range src.Hooks {
		if !keep(h) {
			continue
		}
		c := *h
		c.Source, c.Scope, c.Authority, c.Library = src.Name, src.Scope, src.Authority, src.Library
		c.Timeout = cmp.Or(c.Timeout, s.timeout())
		list = append(list, &c)
	}
	return list
}

func (s *Suite) timeout() time.Duration {
	if s.options.Timeout > 0 {
		return s.options.Timeout
	}
	return 5 * time.Second
}

// further loads the policies that the world of a case adds.
func (s *Suite) further(c *Case) ([]scopes.Source, error) {
	var list []scopes.Source
	var errs []error
	for _, whose := range slices.Sorted(maps.Keys(c.World.Sources)) {
		for _, dir := range c.World.Sources[whose] {
			at := path.Join(path.Dir(c.File), dir)
			src := scopes.Source{Name: whose + " " + at, Trusted: c.World.trusted()}
			src.Scope, src.Authority = standing(whose)
			if !fs.ValidPath(at) {
				errs = append(errs, fmt.Errorf("sources: %s leads out of the tested directory", dir))
				continue
			}
			src, err := s.fromDir(at, src)
			errs = append(errs, err)
			list = append(list, src)
		}
	}
	return list, errors.Join(errs...)
}

func (s *Suite) fromDir(dir string, into scopes.Source) (scopes.Source, error) {
	if info, err := fs.Stat(s.options.Files, dir); err != nil || !info.IsDir() {
		return into, fmt.Errorf("sources: there is no directory %s", dir)
	}
	sub, err := fs.Sub(s.options.Files, dir)
	if err != nil {
		return into, err
	}
	src := load.Rego(sub, into)
	if len(src.Hooks)+len(src.Faults) == 0 {
		return src, fmt.Errorf("sources: %s holds no policy", dir)
	}
	for i := range src.Modules {
		src.Modules[i].File = path.Join(dir, src.Modules[i].File)
	}
	src.Hooks = s.patient(src, func(h *hook.Hook) bool {
		h.File = path.Join(dir, h.File)
		return true
	})
	return src, joined(src.Faults)
}
