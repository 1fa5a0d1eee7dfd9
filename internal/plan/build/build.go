// Package build compiles policies to plans, with OPA.
//
// OPA compiles and checks a source's policies and plans them; this package
// writes its plan as byte code, in the form that internal/plan runs. What a plan
// cannot do is known here: such policies are left to OPA, each with the reason. It
// runs none of them. Start with [Policies].
package build

import (
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ir"

	"gate/internal/plan/builtin"
	"gate/internal/plan/bytecode"
	"gate/internal/rego"
	"gate/internal/verdict"
	"gate/scopes"
)

// A Result is what became of the policies of a source.
type Result struct {
	// Section is the compiled plan, for plan.Open; nil if it would hold no policy.
	Section []byte
	// Left are the policies that stay with OPA, by package, and why.
	Left map[string]string
	// Builtins are what the plan calls, sorted.
	Builtins []string
}

// Policies compiles the policies of a source, which sees the modules of
// data.gate.lib. The same source gives the same bytes. An error concerns the
// whole source; what is wrong with single policies is in Left.
func Policies(lib []scopes.Module, s scopes.Source) (*Result, error) {
	source, err := rego.Plan(lib, s)
	if err != nil {
		return nil, err
	}
	r := &Result{Left: map[string]string{}}
	for pkg, err := range source.Broken {
		r.Left[pkg] = err.Error()
	}
	planned, unplanned := planMost(source, sortedKeys(source.Rules))
	for pkg, err := range unplanned {
		r.Left[pkg] = "OPA cannot plan it: " + firstLine(err)
	}
	if planned == nil {
		return r, nil
	}
	return r, r.write(source, planned)
}

// write writes the plan but for the policies that cannot be run.
func (r *Result) write(source *rego.Plannable, planned *ir.Policy) error {
	lacks := lacking(planned, func(name string) bool { return builtin.Lookup(name) != nil })
	w := &encoder{Writer: &bytecode.Writer{}}
	if err := encode(w, planned, lacks); err != nil {
		return err
	}
	entries := map[string]string{} // names of functions by their path
	for _, f := range planned.Funcs.Funcs {
		entries[strings.Join(f.Path, "\x00")] = f.Name
	}
	kept := 0
	for _, pkg := range sortedKeys(source.Rules) {
		if r.Left[pkg] != "" {
			continue
		}
		var rules []bytecode.Rule
		for _, rule := range source.Rules[pkg] {
			name := entries[strings.Join(append([]string{"g0"}, entryPath(pkg, rule.Name)...), "\x00")]
			switch {
			case name == "":
				r.Left[pkg] = "OPA planned no " + string(rule.Name)
			case lacks[name] != "":
				r.Left[pkg] = "it calls " + lacks[name]
			}
			rules = append(rules, bytecode.Rule{Kind: kindOf(rule.Name), Function: w.functions[name], Pos: rule.Pos})
		}
		if r.Left[pkg] == "" {
			w.Policy(pkg, rules)
			kept++
		}
	}
	if kept == 0 {
		return nil
	}
	r.Builtins = slices.Sorted(slices.Values(w.Builtins()))
	section, err := w.Bytes()
	r.Section = section
	return err
}

func kindOf(name verdict.Rule) int {
	rules := verdict.Rules()
	return slices.Index(rules[:], name)
}

func entryPath(pkg string, rule verdict.Rule) []string {
	return append(strings.Split(pkg, "."), string(rule))
}

// planMost plans packages into one plan. Those that OPA cannot plan are left out,
// each with the error.
func planMost(source *rego.Plannable, pkgs []string) (*ir.Policy, map[string]error) {
	unplanned := map[string]error{}
	if len(pkgs) == 0 {
		return nil, unplanned
	}
	p, err := planPackages(source, pkgs)
	if err == nil {
		return p, unplanned
	}
	unplannable(source, pkgs, err, unplanned)
	left := slices.DeleteFunc(slices.Clone(pkgs), func(pkg string) bool { return unplanned[pkg] != nil })
	if len(left) == 0 {
		return nil, unplanned
	}
	if p, err = planPackages(source, left); err != nil {
		for _, pkg := range left {
			unplanned[pkg] = err
		}
		return nil, unplanned
	}
	return p, unplanned
}

// unplannable finds the packages to blame for an error, by halves.
func unplannable(source *rego.Plannable, pkgs []string, err error, found map[string]error) {
	if len(pkgs) < 2 {
		for _, pkg := range pkgs {
			found[pkg] = err
		}
		return
	}
	for _, half := range [][]string{pkgs[:len(pkgs)/2], pkgs[len(pkgs)/2:]} {
		if _, err := planPackages(source, half); err != nil {
			unplannable(source, half, err, found)
		}
	}
}

func planPackages(source *rego.Plannable, pkgs []string) (*ir.Policy, error) {
	var entries [][]string
	for _, pkg := range pkgs {
		for _, rule := range source.Rules[pkg] {
			entries = append(entries, entryPath(pkg, rule.Name))
		}
	}
	return plan(source.Modules, source.Capabilities, version, entries)
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
