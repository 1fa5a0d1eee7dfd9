package build

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/internal/plan/builtin"
	"gate/internal/plan/bytecode"
)

// queryPackage holds the rule that stands for a query.
const queryPackage = "gate_query"

// QueryPath is the rule that [Query] makes, for the machine's Eval. It is the
// array of the query's answers, each an object of its variables.
func QueryPath() []string { return []string{queryPackage, "answers"} }

// Query compiles any modules and one query over them, for tests that compare
// plans with OPA. The modules' texts are by file name.
func Query(modules map[string]string, query string, version ast.RegoVersion) ([]byte, error) {
	opts := ast.ParserOptions{RegoVersion: version, AllFutureKeywords: version != ast.RegoV1}
	var parsed []*ast.Module
	for _, name := range sortedKeys(modules) {
		m, err := ast.ParseModuleWithOpts(name, modules[name], ast.ParserOptions{RegoVersion: version})
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, m)
	}
	body, err := ast.ParseBodyWithOpts(query, opts)
	if err != nil {
		return nil, err
	}
	m, err := queryModule(body, version)
	if err != nil {
		return nil, err
	}
	parsed = append(parsed, m)
	p, err := plan(parsed, ast.CapabilitiesForThisVersion(), version, [][]string{QueryPath()})
	if err != nil {
		return nil, err
	}
	lacks := lacking(p, func(name string) bool { return builtin.Lookup(name) != nil })
	for _, f := range p.Funcs.Funcs {
		if lacks[f.Name] != "" {
			return nil, &LackError{Builtin: lacks[f.Name]}
		}
	}
	w := &encoder{Writer: &bytecode.Writer{}, named: true}
	if err := encode(w, p, nil); err != nil {
		return nil, err
	}
	return w.Bytes()
}

// A LackError is a builtin that a plan needs and that there is none of.
type LackError struct{ Builtin string }

func (e *LackError) Error() string { return fmt.Sprintf("there is no %s for plans", e.Builtin) }

// queryModule puts a query into a rule: an array of one object for each answer.
func queryModule(body ast.Body, version ast.RegoVersion) (*ast.Module, error) {
	m, err := ast.ParseModuleWithOpts("query.rego", "package "+queryPackage+"\n\nanswers = 1", ast.ParserOptions{RegoVersion: version})
	if err != nil {
		return nil, err
	}
	vars := ast.NewObject()
	for _, v := range body.Vars(ast.VarVisitorParams{SkipClosures: true, SkipRefCallHead: true}).Diff(ast.ReservedVars).Sorted() {
		if !v.IsGenerated() && !v.IsWildcard() {
			vars.Insert(ast.StringTerm(string(v)), ast.NewTerm(v))
		}
	}
	m.Rules[0].Head.Value = ast.ArrayComprehensionTerm(ast.NewTerm(vars), body)
	return m, nil
}
