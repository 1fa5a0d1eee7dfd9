package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"gate/hook"
	"gate/scopes"
)

// TestCompiler returns a compiler for policies of an authority together with
// their tests: as strict as the one that evaluation uses, with print, what OPA's
// test runner puts into tests, and the extra builtins. What policies alone may
// call is for [Check] to say.
func TestCompiler(a hook.Authority, library bool, extra ...*ast.Builtin) *ast.Compiler {
	caps := Capabilities(a, library)
	caps.Builtins = append(caps.Builtins, ast.InternalPrint, ast.InternalTestCase)
	caps.Builtins = append(caps.Builtins, extra...)
	return newCompiler(caps).WithEnablePrintStatements(true)
}

// TestBuiltins returns what a query over modules of [TestCompiler] must know
// beside OPA's own builtins.
func TestBuiltins() []*topdown.Builtin { return nil }

// Params returns data.gate.params of a source: what settings give its policies'
// parameters, or the declared defaults.
func Params(s scopes.Source) (map[string]any, error) {
	p := paramsOf(&s)
	var errs []error
	for _, h := range s.Hooks {
		errs = append(errs, p.faults[h.ID])
	}
	return p.values.plain(), unique(errs)
}

// IsRule reports whether name is one of the eight rules by which policies speak.
func IsRule(name string) bool { return fixed(name) }
