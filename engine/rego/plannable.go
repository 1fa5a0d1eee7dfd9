package rego

import (
	"errors"
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/engine/verdict"
	"gate/hook"
	"gate/scopes"
)

// Plannable is what engine/plan/build makes plans of: the policies of a source
// as they are evaluated here, checked in the same way.
type Plannable struct {
	Modules      []*ast.Module            // that the policies need, in a fixed order
	Capabilities *ast.Capabilities        // what they were checked against
	Rules        map[string][]PlannedRule // of each policy, by package, in the order of verdict.Rules
	Broken       map[string]error         // policies that do not compile
}

// A PlannedRule is a rule that a policy is asked for.
type PlannedRule struct {
	Name verdict.Rule
	Pos  string // file:line of its first definition
}

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
	var whole []string
	for _, pkg := range slices.Compact(pkgs) {
		err := failed[pkg]
		if err == nil && len(rulesOf(compiler, pkg)) == 0 {
			err = fmt.Errorf("package %s has none of the rules %s", pkg, verdict.List())
		}
		if err != nil {
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
