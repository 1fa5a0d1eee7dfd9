package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/compile"
	"github.com/open-policy-agent/opa/v1/ir"
)

const version = ast.RegoV1

// plan has OPA compile and plan modules for entries, each the parts of a rule's
// path below data. The modules are changed.
func plan(modules []*ast.Module, caps *ast.Capabilities, version ast.RegoVersion, entries [][]string) (p *ir.Policy, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, fmt.Errorf("OPA's planner failed: %v", r)
		}
	}()
	b := &bundle.Bundle{Data: map[string]any{}}
	b.Manifest.Init()
	for i, m := range modules {
		name := fmt.Sprintf("%06d.rego", i) // OPA plans in the order of names
		b.Modules = append(b.Modules, bundle.ModuleFile{URL: name, Path: name, Parsed: m})
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = entryName(e)
	}
	c := compile.New().
		WithTarget(compile.TargetPlan).
		WithCapabilities(caps).
		WithPruneUnused(true).
		WithBundle(b).
		WithRegoVersion(version).
		WithEntrypoints(names...)
	if err := c.Build(context.Background()); err != nil {
		return nil, err
	}
	planned := c.Bundle().PlanModules
	if len(planned) != 1 {
		return nil, errors.New("OPA made no plan")
	}
	p = &ir.Policy{}
	if err := json.Unmarshal(planned[0].Raw, p); err != nil {
		return nil, fmt.Errorf("OPA's plan cannot be read: %w", err)
	}
	return p, nil
}

func entryName(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// dynamic reports a plan in which functions are called by paths that are known
// only when it runs.
func dynamic(p *ir.Policy) bool {
	found := false
	ir.Walk(visitor(func(x any) {
		if _, is := x.(*ir.CallDynamicStmt); is {
			found = true
		}
	}), p)
	return found
}

type visitor func(any)

func (visitor) Before(any) {}
func (visitor) After(any)  {}
func (v visitor) Visit(x any) (ir.Visitor, error) {
	v(x)
	return v, nil
}

// lacking returns, for each function of a plan that cannot be run without it, a
// builtin that there is none of.
func lacking(p *ir.Policy, has func(name string) bool) map[string]string {
	lacks := map[string]string{}
	calls := map[string][]string{}
	own := map[string]bool{}
	for _, f := range p.Funcs.Funcs {
		own[f.Name] = true
	}
	for _, f := range p.Funcs.Funcs {
		ir.Walk(visitor(func(x any) {
			switch s := x.(type) {
			case *ir.CallStmt:
				if own[s.Func] {
					calls[f.Name] = append(calls[f.Name], s.Func)
				} else if !has(s.Func) && lacks[f.Name] == "" {
					lacks[f.Name] = s.Func
				}
			case *ir.CallDynamicStmt:
				calls[f.Name] = append(calls[f.Name], reached(p, s)...)
			}
		}), f)
	}
	for again := true; again; {
		again = false
		for _, f := range p.Funcs.Funcs {
			for _, called := range calls[f.Name] {
				if lacks[f.Name] == "" && lacks[called] != "" {
					lacks[f.Name], again = lacks[called], true
				}
			}
		}
	}
	return lacks
}

// reached returns the functions that a call by path may reach.
func reached(p *ir.Policy, s *ir.CallDynamicStmt) []string {
	var names []string
	for _, f := range p.Funcs.Funcs {
		if len(f.Path) == len(s.Path) && matches(p, f.Path, s.Path) {
			names = append(names, f.Name)
		}
	}
	return names
}

func matches(p *ir.Policy, path []string, operands []ir.Operand) bool {
	for i, o := range operands {
		if n, ok := plain(o.Value).(ir.StringIndex); ok && p.Static.Strings[n].Value != path[i] {
			return false
		}
	}
	return true
}

// encode writes the functions of a plan that can be run.
func encode(w *encoder, p *ir.Policy, lacks map[string]string) error {
	w.static = p.Static
	w.functions = map[string]int{}
	var kept []*ir.Func
	for _, f := range p.Funcs.Funcs {
		if lacks[f.Name] == "" {
			w.functions[f.Name] = len(kept)
			kept = append(kept, f)
		}
	}
	named := w.named || dynamic(p)
	var errs []error
	for _, f := range kept {
		errs = append(errs, w.function(f, named))
		w.patterns.collect(f, w.constant)
	}
	w.patterns.write(w.Writer)
	return errors.Join(errs...)
}
