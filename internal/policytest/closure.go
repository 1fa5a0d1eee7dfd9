package policytest

import (
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Concerning returns the files with tests and cases that a policy has a part
// in, those that name its package first: what must be run again when it changes.
func (s *Suite) Concerning(policy string) []string {
	f := s.files[policy]
	if f == nil {
		return nil
	}
	var direct, others []string
	for _, t := range s.tests {
		switch {
		case slices.ContainsFunc(s.files[t].refs, func(r ast.Ref) bool { return touches(r, f) && !s.general(r) }):
			direct = append(direct, t)
		case slices.Contains(s.closure([]string{t}), policy):
			others = append(others, t)
		}
	}
	for i := range s.cases {
		c := &s.cases[i]
		if !slices.Contains(others, c.File) && s.partIn(policy, c) {
			others = append(others, c.File)
		}
	}
	return append(direct, others...)
}

// partIn reports whether a file is among those that decide about a case.
func (s *Suite) partIn(policy string, c *Case) bool {
	var deciding []string
	for _, h := range s.source.Hooks {
		if s.source.Library || beside(h.File, c) {
			deciding = append(deciding, h.File)
		}
	}
	return slices.Contains(s.closure(deciding), policy)
}

// general reports references such as data.gate that name no package.
func (s *Suite) general(r ast.Ref) bool {
	for _, f := range s.files {
		if r.HasPrefix(f.module.Package.Path) {
			return false
		}
	}
	return true
}

// closure returns the files that the named ones need, themselves included,
// sorted.
func (s *Suite) closure(names []string) []string {
	seen := map[string]bool{}
	queue := slices.Clone(names)
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		f := s.files[name]
		for other, o := range s.files {
			if seen[other] {
				continue
			}
			if o.pkg == f.pkg || slices.ContainsFunc(f.refs, func(r ast.Ref) bool { return touches(r, o) }) {
				queue = append(queue, other)
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// touches reports whether a reference may read from a file's package: one of the
// two begins with the other. Packages beside each other differ at their ends.
func touches(r ast.Ref, f *file) bool {
	path := f.module.Package.Path
	for i := min(len(r), len(path)) - 1; i >= 0; i-- {
		if !r[i].Equal(path[i]) {
			return false
		}
	}
	return true
}

// dataRefs collects the ground part of what a module reads below data.
func dataRefs(m *ast.Module) []ast.Ref {
	seen := map[string]bool{}
	var refs []ast.Ref
	add := func(r ast.Ref) {
		r = r.GroundPrefix()
		if key := r.String(); !seen[key] {
			seen[key] = true
			refs = append(refs, r)
		}
	}
	alias := map[ast.Var]ast.Ref{}
	for _, imp := range m.Imports {
		if ref, ok := imp.Path.Value.(ast.Ref); ok && ref.HasPrefix(ast.DefaultRootRef) {
			alias[imp.Name()] = ref
			add(ref)
		}
	}
	ast.WalkRefs(m, func(r ast.Ref) bool {
		if len(r) == 0 {
			return false
		}
		head, _ := r[0].Value.(ast.Var)
		switch {
		case r.HasPrefix(ast.DefaultRootRef) && len(r) > 1:
			add(r)
		case alias[head] != nil:
			add(alias[head].Concat(r[1:]))
		}
		return false
	})
	return refs
}
