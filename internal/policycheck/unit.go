package policycheck

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/hook"
	"gate/scopes"
)

// A unit is one package.
type unit struct {
	pkg     string // without "data."
	file    string
	module  *ast.Module
	hook    *hook.Hook // nil for helpers
	lib     bool       // part of data.gate.lib
	input   value
	imports map[ast.Var]ast.Ref
	rules   map[string][]*ast.Rule // by name; else branches hang at their rule
	handled map[string]bool        // fields whose unknown values the package looks after
	read    map[string]bool        // the fields that it names, once somebody asks; see mentions
	checker *checker
}

// decides reports whether the package has a rule that stops something.
func (u *unit) decides() bool {
	return len(u.rules["deny"])+len(u.rules["ask"])+len(u.rules["halt"]) > 0
}

// resolve replaces an import's name by what it stands for.
func (u *unit) resolve(ref ast.Ref) ast.Ref {
	v, ok := ref[0].Value.(ast.Var)
	if !ok {
		return ref
	}
	to, ok := u.imports[v]
	if !ok {
		return ref
	}
	return append(append(ast.Ref{}, to...), ref[1:]...)
}

// parse makes the units. Files that do not parse have been reported.
func (c *checker) parse(lib []scopes.Module) {
	c.byName, c.calls = map[string]*unit{}, map[string][]call{}
	c.access, c.memo = map[string][]pair{}, map[string]value{}
	add := func(m scopes.Module, isLib bool) *unit {
		parsed, err := c.kept.trees.Module(m.File, m.Text)
		if err != nil || c.byName[m.Package] != nil {
			return nil
		}
		u := newUnit(m, parsed, isLib)
		u.checker = c
		c.byName[m.Package] = u
		return u
	}
	for _, m := range lib {
		if u := add(m, true); u != nil {
			u.input = c.schema.input(nil)
			if c.src.Library {
				c.units = append(c.units, u)
			}
		}
	}
	for _, m := range c.src.Modules {
		u := add(m, false)
		if u == nil {
			continue
		}
		for _, h := range c.src.Hooks {
			if h.ID == u.pkg {
				u.hook = h
			}
		}
		u.input = c.schema.input(u.hook)
		c.units = append(c.units, u)
	}
	c.findAccess()
}

// Imports that bring keywords, and no name.
var (
	regoV1Ref   = ast.Ref{ast.VarTerm("rego"), ast.StringTerm("v1")}
	keywordsRef = ast.Ref{ast.VarTerm("future"), ast.StringTerm("keywords")}
)

func newUnit(m scopes.Module, parsed *ast.Module, isLib bool) *unit {
	u := &unit{
		pkg: m.Package, file: m.File, module: parsed, lib: isLib,
		imports: map[ast.Var]ast.Ref{}, rules: map[string][]*ast.Rule{}, handled: map[string]bool{},
	}
	for _, imp := range parsed.Imports {
		if ref, ok := imp.Path.Value.(ast.Ref); ok && !ref.HasPrefix(regoV1Ref) && !ref.HasPrefix(keywordsRef) {
			u.imports[imp.Name()] = ref
		}
	}
	for _, r := range parsed.Rules {
		u.rules[ruleName(r)] = append(u.rules[ruleName(r)], r)
	}
	return u
}

// all returns the units of the source and the library's helpers.
func (c *checker) all() []*unit {
	list := slices.Clone(c.units)
	for _, u := range c.byName {
		if !slices.Contains(list, u) {
			list = append(list, u)
		}
	}
	return list
}
