package build_test

import (
	"errors"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/test/cases"

	"gate/internal/plan"
	"gate/internal/plan/build"
	"gate/internal/plan/builtin"
	"gate/internal/plan/value"
)

// A compiled case is one that became a plan.
type compiled struct {
	cases.TestCase
	program     *plan.Program
	input, data value.Value
}

func compile(c published) (*compiled, error) {
	texts := map[string]string{}
	for i, text := range c.Modules {
		texts[fmt.Sprintf("test-%d.rego", i)] = text
	}
	section, err := build.Query(texts, c.Query, c.version)
	if err != nil {
		return nil, err
	}
	q := &compiled{TestCase: c.TestCase}
	if q.program, err = plan.Open(string(section)); err != nil {
		return nil, err
	}
	if c.Data != nil {
		if q.data, err = value.From(any(*c.Data)); err != nil {
			return nil, err
		}
	}
	given, err := inputOf(c.TestCase)
	if err != nil {
		return nil, err
	}
	if given != nil {
		q.input = fromAST(given)
	}
	return q, nil
}

// answer runs the plan. Where errors of builtins are not strict they make a call
// undefined.
func (q *compiled) answer(strict bool) outcome {
	m := plan.NewMachine(q.program, &builtin.Context{Cache: &builtin.Cache{}}, q.input, q.data)
	if !strict {
		m.Lenient()
	}
	answers, err := m.Eval(build.QueryPath()...)
	if err != nil {
		return planFailure(err)
	}
	o := outcome{results: ast.NewSet()}
	for _, answer := range answers.(*value.Array).Elems() {
		row := ast.NewObject()
		for _, p := range answer.(*value.Object).Pairs() {
			if err := insert(row, string(p.Key.(value.String)), toAST(p.Value), q.TestCase); err != nil {
				return failure(err)
			}
		}
		o.results.Add(ast.NewTerm(row))
	}
	return o
}

// unsure is the code of what a plan leaves to OPA while it runs.
const unsure = "unsure"

// planFailure writes an error of the machine the way topdown does.
func planFailure(err error) outcome {
	if errors.Is(err, builtin.ErrUnsure) {
		return outcome{code: unsure, text: err.Error()}
	}
	if e, ok := errors.AsType[*plan.Error](err); ok {
		return outcome{code: e.Code, text: fmt.Sprintf("%s:%d: %s: %s", e.File, e.Row, e.Code, e.Message)}
	}
	return outcome{code: "other", text: err.Error()}
}

// fromAST converts one of OPA's values.
func fromAST(v ast.Value) value.Value {
	switch v := v.(type) {
	case ast.Boolean:
		return value.Bool(v)
	case ast.Number:
		n, err := value.Number(string(v))
		if err != nil {
			panic(err)
		}
		return n
	case ast.String:
		return value.String(v)
	case *ast.Array:
		a := value.NewArray()
		v.Foreach(func(e *ast.Term) { a.Append(fromAST(e.Value)) })
		return a
	case ast.Set:
		s := value.NewSet()
		v.Foreach(func(e *ast.Term) { s.Add(fromAST(e.Value)) })
		return s
	case ast.Object:
		o := value.NewObject()
		v.Foreach(func(k, e *ast.Term) { o.Insert(fromAST(k.Value), fromAST(e.Value)) })
		return o
	}
	return value.Null{}
}

// toAST converts a value to OPA's.
func toAST(v value.Value) ast.Value {
	switch v := v.(type) {
	case value.Bool:
		return ast.Boolean(v)
	case value.Int, value.Decimal:
		return ast.Number(value.NumberText(v))
	case value.String:
		return ast.String(v)
	case *value.Array:
		a := make([]*ast.Term, v.Len())
		for i, e := range v.Elems() {
			a[i] = ast.NewTerm(toAST(e))
		}
		return ast.NewArray(a...)
	case *value.Set:
		s := ast.NewSet()
		for _, e := range v.Elems() {
			s.Add(ast.NewTerm(toAST(e)))
		}
		return s
	case *value.Object:
		o := ast.NewObject()
		for _, p := range v.Pairs() {
			o.Insert(ast.NewTerm(toAST(p.Key)), ast.NewTerm(toAST(p.Value)))
		}
		return o
	}
	return ast.NullValue
}
