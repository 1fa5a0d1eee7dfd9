package rego

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/internal/verdict"
)

// A policy is one package, ready to be asked. With err it cannot be.
type policy struct {
	compiler *ast.Compiler
	query    ast.Body
	rules    []rule
	err      error
}

// A rule is one of the ten that a policy has.
type rule struct {
	name verdict.Rule
	v    ast.Var // its variable in the query
	pos  string
}

// build compiles packages of a source and makes them ready to be asked.
func (s *source) build(pkgs []string) map[string]*policy {
	compiler, failed := s.compileMost(pkgs)
	done := make(map[string]*policy, len(pkgs))
	for _, pkg := range pkgs {
		if err := failed[pkg]; err != nil {
			done[pkg] = &policy{err: err}
			continue
		}
		done[pkg] = s.ask(compiler, pkg)
	}
	return done
}

// compileMost compiles packages into one set. Those that do not compile are left
// out, each with its error, and do not spoil the others.
func (s *source) compileMost(pkgs []string) (*ast.Compiler, map[string]error) {
	if s.saved != nil && s.saved.alone {
		return s.restoreAll(pkgs)
	}
	failed := map[string]error{}
	for len(pkgs) > 0 {
		compiler, err := s.compileSet(pkgs)
		if err == nil {
			return compiler, failed
		}
		blamed := s.blame(pkgs, err)
		if len(blamed) == 0 { // nobody in particular: it concerns all
			for _, pkg := range pkgs {
				blamed[pkg] = tidy(err)
			}
		}
		maps.Copy(failed, blamed)
		pkgs = slices.DeleteFunc(slices.Clone(pkgs), func(pkg string) bool { return blamed[pkg] != nil })
	}
	return nil, failed
}

// blame finds the packages that an error concerns: those that need a file in
// which it lies. Each gets the errors of the files that it needs.
func (s *source) blame(pkgs []string, err error) map[string]error {
	var list ast.Errors
	byFile := map[string]ast.Errors{}
	if errors.As(err, &list) {
		for _, e := range list {
			byFile[fileOf(e)] = append(byFile[fileOf(e)], e)
		}
	}
	blamed := map[string]error{}
	for _, pkg := range pkgs {
		own, lib, err := s.closure([]string{pkg})
		if err == nil {
			err = s.shapes(own)
		}
		var mine ast.Errors
		for _, m := range slices.Concat(own, lib) {
			if m.File != "" {
				mine = append(mine, byFile[m.File]...)
			}
		}
		if len(mine) > 0 {
			err = errors.Join(err, tidy(mine))
		}
		if err != nil {
			blamed[pkg] = err
		}
	}
	return blamed
}

// compileSet compiles what pkgs need. Its errors are ast.Errors where OPA found
// them.
func (s *source) compileSet(pkgs []string) (c *ast.Compiler, err error) {
	defer func() {
		if r := recover(); r != nil {
			c, err = nil, fmt.Errorf("compiler failed: %v", r)
		}
	}()
	if c, err := s.restore(pkgs); err == nil {
		return c, nil
	}
	own, lib, err := s.closure(pkgs)
	if err != nil {
		return nil, err
	}
	if err := s.shapes(own); err != nil {
		return nil, err
	}
	return s.compileFiles(own, lib)
}

// compileFiles compiles files into one set.
func (s *source) compileFiles(own, lib []*module) (*ast.Compiler, error) {
	parsed := make(map[string]*ast.Module, len(own)+len(lib))
	add := func(lib bool, m *module) {
		key := fileKey(lib, m.Package, m.File)
		for parsed[key] != nil { // two files of one name
			key += "+"
		}
		parsed[key] = m.ast
	}
	for _, m := range own {
		add(false, m)
	}
	for _, m := range lib {
		add(true, m)
	}
	c := newCompiler(capabilities(s.grant), s.guards).WithPathConflictsCheck(s.hasData)
	if c.Compile(parsed); c.Failed() {
		return nil, c.Errors
	}
	return c, nil
}

// hasData reports whether the source brings data at a path. A rule there would
// hide it.
func (s *source) hasData(path []string) (bool, error) {
	_, found := within(s.data, path)
	return found, nil
}

// newCompiler returns a compiler as strict as OPA knows. Every mistake is
// reported, print is erased with its arguments, and schema annotations, which
// can name remote documents, mean nothing.
func newCompiler(caps *ast.Capabilities, guards *guardSet) *ast.Compiler {
	own := *caps
	own.Builtins = slices.Concat(caps.Builtins, guards.declarations)
	c := ast.NewCompiler()
	if guards.constants {
		c = c.WithStageAfterID(ast.StageCheckDeprecatedBuiltins, schemaStage())
	}
	return c.
		WithCapabilities(&own).
		WithStrict(true).
		WithEnablePrintStatements(false).
		WithUseTypeCheckAnnotations(false).
		WithDefaultRegoVersion(ast.RegoV1).
		WithStageAfterID(ast.StageCheckDeprecatedBuiltins, guards.stage()).
		SetErrorLimit(maxErrors)
}

const maxErrors = 100

// ask makes the query for a package: one reference for each of the ten rules
// that it has. Static references let OPA go straight to the rules.
func (s *source) ask(c *ast.Compiler, pkg string) *policy {
	files := s.files.ofPackage(pkg)
	if len(files) == 0 {
		return &policy{err: fmt.Errorf("source %q has no package %s", s.name, pkg)}
	}
	if err := s.params.Fault(pkg); err != nil {
		return &policy{err: err}
	}
	p := &policy{compiler: c, rules: rulesOf(c, pkg)}
	path := packageRef(pkg)
	for _, r := range p.rules {
		ref := path.Append(ast.StringTerm(string(r.name)))
		p.query.Append(ast.Equality.Expr(ast.NewTerm(r.v), ast.NewTerm(ref)))
	}
	if len(p.rules) == 0 && !s.schemas[pkg] {
		return &policy{err: fmt.Errorf("%s: package %s has none of the rules %s", files[0].File, pkg, verdict.List())}
	}
	return p
}

// rulesOf returns which of the ten rules a package has.
func rulesOf(c *ast.Compiler, pkg string) (rules []rule) {
	path := packageRef(pkg)
	for _, name := range verdict.Rules() {
		found := c.GetRulesExact(path.Append(ast.StringTerm(string(name))))
		if len(found) > 0 {
			rules = append(rules, rule{name: name, v: ast.Var(name), pos: position(found)})
		}
	}
	return rules
}

// packageRef returns the reference to a package.
func packageRef(pkg string) ast.Ref {
	ref := ast.Ref{ast.DefaultRootDocument}
	for _, part := range strings.Split(pkg, ".") {
		ref = append(ref, ast.StringTerm(part))
	}
	return ref
}

// position returns file:line of the first of a rule's definitions.
func position(rules []*ast.Rule) string {
	first := rules[0].Location
	for _, r := range rules[1:] {
		if l := r.Location; l.File < first.File || l.File == first.File && l.Row < first.Row {
			first = l
		}
	}
	return fmt.Sprintf("%s:%d", first.File, first.Row)
}
