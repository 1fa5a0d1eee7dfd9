package rego

import (
	"errors"
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/hook"
	"gate/internal/verdict"
	"gate/scopes"
)

// Plannable is what internal/plan/build makes plans of: the policies of a source
// as they are evaluated here, checked in the same way.
type Plannable struct {
	Modules      []*ast.Module            // that the policies need, in a fixed order
	Capabilities *ast.Capabilities        // what they were checked against
	Rules        map[string][]PlannedRule // of each policy, by package, in the order of verdict.Rules
	Broken       map[string]error         // policies that do not compile, or that only OPA can evaluate
}

// A PlannedRule is a rule that a policy is asked for.
type PlannedRule struct {
	Name verdict.Rule
	Pos  string // file:line of its first definition
}

// errSchema keeps a policy with OPA: plans check no schemas.
var errSchema = errors.New("its METADATA has a schema, which plans cannot check")

// Plan returns what plans are made of for a source, with the modules of
// data.gate.lib. Parameters do not count: what settings give them is known only
// when policies are asked. An error concerns the whole source.
func Plan(lib []scopes.Module, s scopes.Source) (*Plannable, error) {
	src := newSource(&s, newModules(lib))
	if src.broken != nil {
		return nil, src.broken
	}
	var pkgs []string
	for _, h := range s.Hooks {
		if h.Kind == hook.Rego {
			pkgs = append(pkgs, h.ID)
		}
	}
	slices.Sort(pkgs)
	p := &Plannable{Capabilities: capabilities(src.grant), Rules: map[string][]PlannedRule{}, Broken: map[string]error{}}
	compiler, failed := src.compileMost(slices.Compact(pkgs))
	order := orderer{src, compiler, map[*module]error{}}
	var whole []string
	for _, pkg := range slices.Compact(pkgs) {
		err := failed[pkg]
		if err == nil && src.schemas[pkg] {
			err = errSchema
		}
		if err == nil && len(rulesOf(compiler, pkg)) == 0 {
			err = fmt.Errorf("package %s has none of the rules %s", pkg, verdict.List())
		}
		if err != nil {
			p.Broken[pkg] = err
			continue
		}
		if err := order.policy(pkg); err != nil {
			p.Broken[pkg] = err
			continue
		}
		whole = append(whole, pkg)
		for _, r := range rulesOf(compiler, pkg) {
			p.Rules[pkg] = append(p.Rules[pkg], PlannedRule{r.name, r.pos})
		}
	}
	own, needed, err := src.closure(whole)
	for _, m := range slices.Concat(own, needed) {
		p.Modules = append(p.Modules, m.ast)
	}
	return p, errors.Join(err)
}

// An orderer finds policies that may depend on the order in which OPA goes
// through a set or an object that is written with variables, such as {x, y}: OPA
// takes the order of what is written, not of the values, and nothing else does.
type orderer struct {
	src      *source
	compiler *ast.Compiler
	looked   map[*module]error
}

// policy returns an error if a package needs a file with such a set or object.
func (o *orderer) policy(pkg string) error {
	own, lib, err := o.src.closure([]string{pkg})
	for _, m := range own {
		err = errors.Join(err, o.file(m, false))
	}
	for _, m := range lib {
		err = errors.Join(err, o.file(m, true))
	}
	return err
}

func (o *orderer) file(m *module, lib bool) error {
	err, known := o.looked[m]
	compiled := o.compiler.Modules[fileKey(lib, m.Package, m.File)]
	if known || compiled == nil {
		return err
	}
	ast.WalkExprs(compiled, func(e *ast.Expr) bool {
		if e.IsEquality() && (written(e.Operand(0)) || written(e.Operand(1))) {
			err = fmt.Errorf("%s:%d: may go through a set or object that is written with variables", m.File, e.Location.Row)
		}
		return err != nil
	})
	o.looked[m] = err
	return err
}

// written reports a term that holds a set of several elements that are not all
// constants, or an object with such keys.
func written(t *ast.Term) (found bool) {
	ast.WalkTerms(t, func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.Set:
			found = found || v.Len() > 1 && !v.IsGround()
		case ast.Object:
			found = found || v.Len() > 1 && v.Until(func(k, _ *ast.Term) bool { return !k.IsGround() })
		case *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension:
			return true // their expressions are looked at by themselves
		}
		return found
	})
	return found
}
