package rego

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/scopes"
)

// ErrSaved is the error of policies that are asked from what [Save] made, where
// that is damaged, was made by another version, or does not hold them. Somebody
// who has their text can ask them all the same.
var ErrSaved = errors.New("the saved form of the policies cannot be used")

// Save compiles policies of a source, by their packages, with the modules of
// data.gate.lib, and returns what came of them and of what they need, for
// [WithSaved]. Policies that do not compile are left out; it returns nil if none
// is left.
func Save(lib []scopes.Module, s scopes.Source, pkgs []string) ([]byte, error) {
	src := newSource(&s, newModules(lib))
	if src.broken != nil {
		return nil, src.broken
	}
	compiler, failed := src.compileMost(pkgs)
	pkgs = slices.DeleteFunc(slices.Clone(pkgs), func(pkg string) bool { return failed[pkg] != nil })
	if len(pkgs) == 0 {
		return nil, nil
	}
	own, needed, err := src.closure(pkgs)
	if err != nil {
		return nil, err
	}
	data, err := src.save(compiler, own, needed)
	if err != nil {
		return nil, err
	}
	src.saved = &snapshot{data: string(data), alone: true}
	if _, err := src.restore(pkgs); err != nil {
		return nil, err // better now than when somebody waits
	}
	return data, nil
}

// WithSaved has policies asked from what [Save] made of their sources, by the
// names of the sources, which need no Modules then. Who gives it answers for it
// saying what the sources say; that it calls nothing which its source is not
// granted is checked. Faults of policies that cannot be asked so are [ErrSaved].
func WithSaved(data map[string]string) Option {
	return func(e *Evaluator) { e.saved = data }
}

// savedSource is a source without its text.
func savedSource(s scopes.Source, lib *modules, data string) *source {
	saved := &snapshot{data: data, alone: true}
	err := saved.read()
	s.Modules = nil
	for _, f := range saved.files[:min(saved.own, len(saved.files))] {
		s.Modules = append(s.Modules, scopes.Module{File: f.file, Package: f.pkg})
	}
	src := newSource(&s, lib)
	src.saved = saved
	if err != nil {
		src.broken = fmt.Errorf("source %q: %w: %w", s.Name, ErrSaved, err)
	}
	return src
}

// restoreAll is restore for a source without its text.
func (s *source) restoreAll(pkgs []string) (*ast.Compiler, map[string]error) {
	failed := map[string]error{}
	c, err := s.restore(pkgs)
	if err != nil {
		for _, pkg := range pkgs {
			failed[pkg] = fmt.Errorf("source %q: %w: %w", s.name, ErrSaved, err)
		}
	}
	return c, failed
}

// needs returns the files that packages need.
func (s *snapshot) needs(pkgs []string) ([]int, error) {
	needed := map[int]bool{}
	for _, pkg := range pkgs {
		found := false
		for _, f := range s.files[:s.own] {
			if f.pkg == pkg {
				found = true
				for _, n := range f.needs {
					needed[n] = true
				}
			}
		}
		if !found {
			return nil, fmt.Errorf("it does not hold %s", pkg)
		}
	}
	return slices.Sorted(maps.Keys(needed)), nil
}

// mayCall reports which builtins a snapshot may call, nil for all: what comes
// with the program does not lie where somebody else could write it.
func (s *source) mayCall() func(name string) bool {
	if !s.saved.alone {
		return nil
	}
	granted := grantedBuiltins(s.grant)
	return func(name string) bool { return granted[strings.TrimPrefix(name, GuardPrefix)] }
}
