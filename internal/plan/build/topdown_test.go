package build_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/test/cases"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/util"
)

// An outcome is what one engine says about one case: its result set, or the
// code and text of an error.
type outcome struct {
	results ast.Set // of objects, one for each binding, as JSON has them
	code    string
	text    string
}

// same reports that two engines say the same: the same results, or errors of
// one kind.
func (o outcome) same(other outcome) bool {
	if o.code != "" || other.code != "" {
		return o.code == other.code
	}
	return o.results.Compare(other.results) == 0
}

func failure(err error) outcome {
	if e, ok := errors.AsType[*topdown.Error](err); ok {
		return outcome{code: e.Code, text: e.Error()}
	}
	return outcome{code: "other", text: err.Error()}
}

// modulesOf returns the case's modules, parsed.
func modulesOf(c published) (map[string]*ast.Module, error) {
	options := ast.ParserOptions{RegoVersion: c.version, Capabilities: capabilities(c.TestCase)}
	modules := map[string]*ast.Module{}
	for i, text := range c.Modules {
		name := fmt.Sprintf("test-%d.rego", i)
		m, err := ast.ParseModuleWithOpts(name, text, options)
		if err != nil {
			return nil, err
		}
		modules[name] = m
	}
	return modules, nil
}

func capabilities(c cases.TestCase) *ast.Capabilities {
	if c.ExperimentalKeywords {
		return ast.CapabilitiesForThisVersion(ast.CapabilitiesExperimentalKeywords(true))
	}
	return ast.CapabilitiesForThisVersion()
}

func inputOf(c cases.TestCase) (ast.Value, error) {
	switch {
	case c.InputTerm != nil:
		// As OPA's own tests do: the text may hold what JSON cannot.
		t, err := ast.ParseTerm(*c.InputTerm)
		if err != nil {
			return nil, err
		}
		return t.Value, nil
	case c.Input != nil:
		return ast.InterfaceToValue(*c.Input)
	}
	return nil, nil
}

// A prepared case is one that OPA compiled.
type prepared struct {
	cases.TestCase
	compiler *ast.Compiler
	query    ast.Body
	store    storage.Store
	input    ast.Value
}

func prepare(c published) (*prepared, error) {
	modules, err := modulesOf(c)
	if err != nil {
		return nil, err
	}
	q := &prepared{TestCase: c.TestCase, compiler: ast.NewCompiler().WithCapabilities(capabilities(c.TestCase)), store: inmem.New()}
	if q.compiler.Compile(modules); q.compiler.Failed() {
		return nil, q.compiler.Errors
	}
	body, err := ast.ParseBody(c.Query)
	if err != nil {
		return nil, err
	}
	if q.query, err = q.compiler.QueryCompiler().Compile(body); err != nil {
		return nil, err
	}
	if c.Data != nil {
		q.store = inmem.NewFromObject(*c.Data)
	}
	q.input, err = inputOf(c.TestCase)
	return q, err
}

// answer runs the case as OPA does.
func (p *prepared) answer(ctx context.Context, strict bool) outcome {
	q := topdown.NewQuery(p.query).WithCompiler(p.compiler).WithStore(p.store).WithStrictBuiltinErrors(strict).
		WithCancel(topdown.NewCancel()).WithTransaction(storage.NewTransactionOrDie(ctx, p.store))
	if p.input != nil {
		q = q.WithInput(ast.NewTerm(p.input))
	}
	found, err := q.Run(ctx)
	if err != nil {
		return failure(err)
	}
	o := outcome{results: ast.NewSet()}
	for _, binding := range found {
		row := ast.NewObject()
		for name, term := range binding {
			if err := insert(row, string(name), term.Value, p.TestCase); err != nil {
				return failure(err)
			}
		}
		o.results.Add(ast.NewTerm(row))
	}
	return o
}

// insert puts one bound value into a row, the way OPA's own tests compare it:
// as JSON, and sorted where the case says that its order does not count.
func insert(row ast.Object, name string, v ast.Value, c cases.TestCase) error {
	if c.IgnoreGeneratedVars && strings.HasPrefix(name, "__localq") {
		return nil
	}
	plain, err := ast.JSON(v)
	if err != nil {
		return err
	}
	if list, ok := plain.([]any); ok && c.SortBindings {
		slices.SortFunc(list, util.Compare)
	}
	v, err = ast.InterfaceToValue(plain)
	if err != nil {
		return err
	}
	row.Insert(ast.StringTerm(name), ast.NewTerm(v))
	return nil
}

// wanted says how an outcome differs from what the case wants, or "". The text
// of a conflict names the rule, which a plan no longer knows.
func wanted(c cases.TestCase, got outcome) string {
	switch {
	case c.WantErrorCode != nil && *c.WantErrorCode == topdown.ConflictErr && got.code == topdown.ConflictErr:
		return ""
	case c.WantErrorCode != nil && got.code != *c.WantErrorCode:
		return fmt.Sprintf("error code %q, want %q (%s%v)", got.code, *c.WantErrorCode, got.text, got.results)
	case c.WantError != nil && !strings.Contains(got.text, *c.WantError):
		return fmt.Sprintf("error %q, want %q", got.text, *c.WantError)
	case c.WantErrorCode != nil || c.WantError != nil:
		return ""
	case got.code != "":
		return fmt.Sprintf("unexpected error %s: %s", got.code, got.text)
	case c.WantResult == nil:
		return "the case wants nothing"
	}
	want := ast.NewSet()
	for _, binding := range *c.WantResult {
		row := ast.NewObject()
		for name, v := range binding {
			value, err := ast.InterfaceToValue(v)
			if err != nil {
				return err.Error()
			}
			row.Insert(ast.StringTerm(name), ast.NewTerm(value))
		}
		want.Add(ast.NewTerm(row))
	}
	if want.Compare(got.results) != 0 {
		return fmt.Sprintf("results %v, want %v", got.results, want)
	}
	return ""
}
