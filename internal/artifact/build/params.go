package build

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/hook"
	"gate/scopes"
)

// sharedParams returns the positions of the hooks whose parameters another
// file of the source may read, by itself or through the package. They must be
// there whenever anything of the source is asked.
func sharedParams(src *scopes.Source) ([]int, error) {
	shared := map[string]bool{}
	for _, m := range src.Modules {
		parsed, err := ast.ParseModuleWithOpts(m.File, m.Text, ast.ParserOptions{RegoVersion: ast.RegoV1})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.File, err)
		}
		for _, path := range dataPaths(parsed) {
			for _, h := range src.Hooks {
				if h.Kind != hook.Rego || len(h.Params) == 0 || h.ID == m.Package {
					continue
				}
				own := strings.Split(h.ID, ".")
				if meets(path, own) || meets(path, append([]string{"gate", "params"}, own...)) {
					shared[h.ID] = true
				}
			}
		}
	}
	var positions []int
	for i, h := range src.Hooks {
		if shared[h.ID] {
			positions = append(positions, i)
		}
	}
	return positions, nil
}

// meets reports that one of two paths leads to the other.
func meets(a, b []string) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

// dataPaths lists what a file may read below data: references and imports, cut
// at the first part that is not constant.
func dataPaths(m *ast.Module) [][]string {
	var paths [][]string
	alias := map[ast.Var][]string{}
	for _, imp := range m.Imports {
		if ref, ok := imp.Path.Value.(ast.Ref); ok && ref.HasPrefix(ast.DefaultRootRef) {
			alias[imp.Name()] = constant(ref)
		}
	}
	var visit func(t *ast.Term) bool
	visit = func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.Ref:
			head, _ := v[0].Value.(ast.Var)
			if v.HasPrefix(ast.DefaultRootRef) {
				paths = append(paths, constant(v))
			} else if above, ok := alias[head]; ok {
				paths = append(paths, slices.Concat(above, constant(v)))
			}
			for _, part := range v[1:] {
				ast.WalkTerms(part, visit)
			}
			return true // the head is no term of its own
		case ast.Var:
			if v.Equal(ast.DefaultRootDocument.Value) {
				paths = append(paths, nil)
			} else if above, ok := alias[v]; ok {
				paths = append(paths, above)
			}
		}
		return false
	}
	for _, rule := range m.Rules {
		ast.WalkTerms(rule, visit)
	}
	return paths
}

// constant returns the constant texts behind the head of a reference.
func constant(ref ast.Ref) []string {
	var path []string
	for _, t := range ref[1:] {
		s, ok := t.Value.(ast.String)
		if !ok {
			break
		}
		path = append(path, string(s))
	}
	return path
}
