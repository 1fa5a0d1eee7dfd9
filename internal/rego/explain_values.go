package rego

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// known holds what expressions stood for in one solution, by their text; nil is
// undefined.
type known map[string]ast.Value

// values asks what the parts of the first many conditions stand for in a
// solution of the first n. Parts that this solution does not reach are left out.
func (a *account) values(f *parsed, b *body, n, many int, pins []*ast.Expr) known {
	var parts []*ast.Term
	seen := map[string]bool{}
	add := func(t *ast.Term) {
		if !seen[t.String()] {
			seen[t.String()] = true
			parts = append(parts, t)
		}
	}
	for _, e := range b.conditions[:many] {
		for _, part := range partsOf(e) {
			add(part)
		}
		for _, c := range callsOf(e) {
			for _, arg := range c.args {
				for _, part := range partsOfTerm(arg, nil) {
					add(part)
				}
			}
		}
	}
	for _, t := range slices.Clone(parts) { // what is needed to tell where they stand
		if ref, ok := t.Value.(ast.Ref); ok {
			for _, e := range ref {
				if v, isVar := e.Value.(ast.Var); isVar && !v.IsWildcard() && !e.Equal(ast.InputRootDocument) && !e.Equal(ast.DefaultRootDocument) {
					add(e)
				}
			}
		}
	}
	return a.ask(f, b, n, parts, pins)
}

// ask asks for all parts at once. If one of them cannot be asked there, each is
// asked alone.
func (a *account) ask(f *parsed, b *body, n int, parts []*ast.Term, pins []*ast.Expr) known {
	q := slices.Clone(pins)
	for i, t := range parts {
		q = append(q, captureExpr(i, t))
	}
	values := known{}
	results, err := a.solve(f, b.with(n, q...), 1)
	if err != nil && len(parts) > 1 {
		half := len(parts) / 2
		for _, list := range [][]*ast.Term{parts[:half], parts[half:]} {
			maps.Copy(values, a.ask(f, b, n, list, pins))
		}
		return values
	}
	if err != nil || len(results) == 0 {
		return values
	}
	for i, t := range parts {
		values[t.String()] = nil
		if list, ok := results[0][partVar(i)]; ok {
			array, ok := list.Value.(*ast.Array)
			switch {
			case !ok || array.Len() == 0:
			case array.Elem(0).IsGround():
				values[t.String()] = array.Elem(0).Value
			default:
				delete(values, t.String()) // a variable that is not bound yet
			}
		}
	}
	return values
}

func partVar(i int) ast.Var { return ast.Var(partVars + strconv.Itoa(i) + "__") }

// captureExpr binds a list with the term's value, or an empty one if it is
// undefined.
func captureExpr(i int, t *ast.Term) *ast.Expr {
	inner := ast.NewTerm(innerVar)
	return ast.Equality.Expr(ast.NewTerm(partVar(i)),
		ast.ArrayComprehensionTerm(inner, ast.NewBody(ast.Equality.Expr(inner, t.Copy()))))
}

// partsOf returns the expressions of a condition whose values tell how it came
// out: variables, references and calls, but not what stands in a comprehension
// or behind every, which have many values.
func partsOf(e *ast.Expr) []*ast.Term {
	var parts []*ast.Term
	switch t := e.Terms.(type) {
	case *ast.Term:
		parts = partsOfTerm(t, parts)
	case []*ast.Term:
		for _, operand := range t[1:] {
			parts = partsOfTerm(operand, parts)
		}
	case *ast.SomeDecl:
		for _, s := range t.Symbols {
			if call, ok := s.Value.(ast.Call); ok {
				for _, operand := range call[1:] {
					parts = partsOfTerm(operand, parts)
				}
			}
		}
	case *ast.Every:
		parts = partsOfTerm(t.Domain, parts)
	}
	return parts
}

func partsOfTerm(t *ast.Term, parts []*ast.Term) []*ast.Term {
	switch v := t.Value.(type) {
	case ast.Var:
		if !v.IsWildcard() {
			parts = append(parts, t)
		}
	case ast.Ref:
		parts = append(parts, t)
	case ast.Call:
		parts = append(parts, t)
		for _, operand := range v[1:] {
			parts = partsOfTerm(operand, parts)
		}
	case *ast.Array:
		v.Foreach(func(e *ast.Term) { parts = partsOfTerm(e, parts) })
	case ast.Set:
		v.Foreach(func(e *ast.Term) { parts = partsOfTerm(e, parts) })
	case ast.Object:
		v.Foreach(func(_, e *ast.Term) { parts = partsOfTerm(e, parts) })
	}
	return parts
}

// assignedVar returns x of x := …, assignedCall the other side; nil otherwise.
func assignedVar(e *ast.Expr) ast.Value  { return assignment(e, 0) }
func assignedCall(e *ast.Expr) ast.Value { return assignment(e, 1) }

func assignment(e *ast.Expr, i int) ast.Value {
	if e.IsAssignment() || e.IsEquality() {
		if _, ok := e.Operand(0).Value.(ast.Var); ok && e.IsAssignment() {
			return e.Operand(i).Value
		}
	}
	if decl, ok := e.Terms.(*ast.SomeDecl); ok && len(decl.Symbols) > 0 {
		if call, ok := decl.Symbols[0].Value.(ast.Call); ok {
			return call[min(i+1, len(call)-1)].Value
		}
	}
	return ast.Null{}
}

// A ruleCall is a call of a function, or a reference to a rule.
type ruleCall struct {
	operator ast.Ref
	args     []*ast.Term
}

// callsOf returns what may be calls of rules in a condition.
func callsOf(e *ast.Expr) []ruleCall {
	var calls []ruleCall
	if e.IsCall() {
		if ref := e.Operator(); ref != nil {
			calls = append(calls, ruleCall{ref, e.Operands()})
		}
	}
	if t, ok := e.Terms.(*ast.Term); ok {
		if ref, ok := t.Value.(ast.Ref); ok {
			calls = append(calls, ruleCall{ref, nil})
		} else if _, ok := t.Value.(ast.Var); ok {
			calls = append(calls, ruleCall{ast.Ref{t}, nil})
		}
	}
	for _, part := range partsOf(e) {
		switch v := part.Value.(type) {
		case ast.Call:
			if ref, ok := v[0].Value.(ast.Ref); ok {
				calls = append(calls, ruleCall{ref, v[1:]})
			}
		case ast.Var:
			calls = append(calls, ruleCall{ast.Ref{part}, nil})
		}
	}
	return calls
}

// grounded puts values in the place of arguments.
func grounded(args []*ast.Term, values known) ([]*ast.Term, bool) {
	list := make([]*ast.Term, len(args))
	for i, arg := range args {
		if arg.IsGround() && len(partsOfTerm(arg, nil)) == 0 {
			list[i] = arg
			continue
		}
		v := values[arg.String()]
		if v == nil {
			return nil, false
		}
		list[i] = ast.NewTerm(v)
	}
	return list, true
}

// text returns a condition as it is written, on one line.
func (f *parsed) text(e *ast.Expr) string {
	return strings.Join(strings.Fields(string(e.Location.Text)), " ")
}

// plain converts a value for people and programs; a set becomes a sorted list.
func plain(v ast.Value) any {
	text, err := ast.JSON(v)
	if err != nil {
		return v.String()
	}
	return numbers(text)
}

// numbers gives numbers the type that the rest of gate has for them.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return int(n)
		}
		n, _ := v.Float64()
		return n
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	}
	return v
}
