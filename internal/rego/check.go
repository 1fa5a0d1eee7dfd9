package rego

import (
	"errors"
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/hook"
	"gate/scopes"
)

// Check compiles a whole source strictly, as its policies will be compiled, and
// reports every mistake that it finds, joined, each as file:line. It covers
// files that no policy needs and METADATA, which evaluation never reads. What
// can be said without compiling, such as misspelt rules, internal/load says.
func Check(lib []scopes.Module, s scopes.Source) error { return CheckParsed(lib, s, nil) }

// Trees are files that have been parsed, with their METADATA. Nobody changes a tree.
type Trees interface {
	Module(file, text string) (*ast.Module, error)
}

// CheckParsed is [Check] of files that somebody has parsed already; nil: nobody has.
func CheckParsed(lib []scopes.Module, s scopes.Source, trees Trees) error {
	src := newSource(&s, newModules(lib))
	errs := []error{src.broken}
	for _, m := range slices.Concat(src.files.all, src.lib.all) {
		m.trees = trees
	}
	for _, m := range src.files.all {
		if _, err := m.annotated(); err != nil {
			errs = append(errs, err)
		}
	}
	compiler, failed := src.compileMost(src.packages())
	for _, pkg := range src.packages() {
		errs = append(errs, failed[pkg])
	}
	for _, h := range s.Hooks {
		switch {
		case h.Kind != hook.Rego:
		case len(src.files.ofPackage(h.ID)) == 0:
			errs = append(errs, fmt.Errorf("%s: no file has package %s", h.Pos(), h.ID))
		case failed[h.ID] != nil:
			errs = append(errs, src.params.Fault(h.ID))
		default:
			errs = append(errs, src.ask(compiler, h.ID).err)
		}
	}
	return unique(errs)
}

// Unloaded returns why policies of a source cannot be loaded, by policy: each mistake by
// itself. Policies of which nothing is wrong are left out.
func Unloaded(lib []scopes.Module, s scopes.Source) map[string][]error {
	src := newSource(&s, newModules(lib))
	out := map[string][]error{}
	var ids []string
	for _, h := range s.Hooks {
		switch {
		case h.Kind != hook.Rego:
		case src.broken != nil:
			out[h.ID] = split(src.broken)
		default:
			ids = append(ids, h.ID)
		}
	}
	slices.Sort(ids)
	for id, p := range src.build(slices.Compact(ids)) {
		if p.err != nil {
			out[id] = split(unique([]error{p.err}))
		}
	}
	return out
}

// packages lists the source's packages by name.
func (s *source) packages() []string {
	var all []string
	for _, m := range s.files.all {
		all = append(all, m.Package)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// unique joins errors and leaves out repeated ones.
func unique(errs []error) error {
	seen := map[string]bool{}
	var kept []error
	for _, err := range errs {
		for _, one := range split(err) {
			if !seen[one.Error()] {
				seen[one.Error()] = true
				kept = append(kept, one)
			}
		}
	}
	return errors.Join(kept...)
}

// split undoes errors.Join.
func split(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var list []error
	for _, e := range joined.Unwrap() {
		list = append(list, split(e)...)
	}
	return list
}
