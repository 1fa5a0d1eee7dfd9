package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"gate/hook"
	"gate/internal/params"
	"gate/internal/verdict"
	"gate/scopes"
)

// TestCompiler returns a compiler for policies of an authority together with
// their tests: as strict as the one that evaluation uses, with print, what OPA's
// test runner puts into tests, and the extra builtins. What policies alone may
// call is for [Check] to say. The builtins are what a query over its modules
// must know beside OPA's own.
func TestCompiler(a hook.Authority, library bool, extra ...*ast.Builtin) (*ast.Compiler, []*topdown.Builtin) {
	granted := grantOf(&scopes.Source{Authority: a, Library: library})
	caps, guards := capabilities(granted), newGuardSet(granted)
	caps.Builtins = append(caps.Builtins, ast.InternalPrint, ast.InternalTestCase)
	caps.Builtins = append(caps.Builtins, extra...)
	list := make([]*topdown.Builtin, 0, len(guards.builtins))
	for _, decl := range guards.declarations {
		list = append(list, guards.builtins[decl.Name])
	}
	return newCompiler(caps, guards).WithEnablePrintStatements(true), list
}

// Params returns data.gate.params of a source: what settings give its policies'
// parameters, or the declared defaults.
func Params(s scopes.Source) (map[string]any, error) {
	p := params.Of(&s)
	var errs []error
	for _, h := range s.Hooks {
		errs = append(errs, p.Fault(h.ID))
	}
	return p.Values(), unique(errs)
}

// IsRule reports whether name is one of the ten rules by which policies speak.
func IsRule(name string) bool { return verdict.Known(name) }

// Tidy turns OPA's list of errors into joined ones of the form "file:line: what",
// each once, in the order of files and lines.
func Tidy(err error) error { return tidy(err) }
