package rego

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// The variables that an account's own queries use beside the policy's.
const (
	headVar  = ast.Var("__gate_head__")
	innerVar = ast.Var("__gate_inner__")
	partVars = "__gate_part_"
)

// A body is a definition's body as queries ask it.
type body struct {
	args       []*ast.Expr // what the rule is called with
	conditions []*ast.Expr
	head       *ast.Expr // binds headVar to what the rule gives
}

func newBody(r *ast.Rule, args []*ast.Term) *body {
	b := &body{}
	for i, arg := range args {
		b.args = append(b.args, ast.Equality.Expr(r.Head.Args[i].Copy(), arg))
	}
	for _, e := range r.Body {
		if t, ok := e.Terms.(*ast.Term); ok && ast.Boolean(true).Equal(t.Value) {
			continue // what a definition without a body has
		}
		b.conditions = append(b.conditions, e)
	}
	head := r.Head.Key
	if head == nil {
		head = r.Head.Value
	}
	if head != nil {
		b.head = ast.Equality.Expr(ast.NewTerm(headVar), head)
	}
	return b
}

// with returns the query for the first n conditions and more.
func (b *body) with(n int, more ...*ast.Expr) ast.Body {
	var q ast.Body
	for _, list := range [][]*ast.Expr{b.args, b.conditions[:n], more} {
		for _, e := range list {
			if e != nil {
				q.Append(e.Copy())
			}
		}
	}
	if len(q) == 0 {
		q.Append(ast.NewExpr(ast.BooleanTerm(true)))
	}
	return q
}

var errEnough = errors.New("enough results")

// over reports that time or the number of queries is used up. What was found by
// then may be half an answer.
func (a *account) over() bool { return a.left < 0 || a.cancel.Cancelled() || a.ctx.Err() != nil }

// solve asks a query within a file's package and imports and returns at most so
// many results.
func (a *account) solve(f *parsed, q ast.Body, most int) (results []topdown.QueryResult, err error) {
	defer func() {
		if r := recover(); r != nil { // the fuse
			results, err = nil, fmt.Errorf("%v", r)
		}
	}()
	if a.left--; a.over() {
		return nil, errCancelled
	}
	qc := a.compiler.QueryCompiler().
		WithContext(ast.NewQueryContext().WithPackage(f.Package).WithImports(f.Imports)).
		WithStageAfterID(ast.StageCheckUnsafeBuiltins, ast.QueryCompilerStageDefinition{
			Name: "GuardBuiltins", MetricName: "guard_builtins",
			Stage: func(_ ast.QueryCompiler, q ast.Body) (ast.Body, error) {
				ast.WalkExprs(q, func(e *ast.Expr) bool {
					a.src.guards.guard(e)
					return false
				})
				return q, nil
			},
		})
	compiled, err := qc.Compile(q)
	if err != nil {
		return nil, err
	}
	query := a.query(compiled).WithQueryCompiler(qc)
	if a.src.fused {
		query.WithQueryTracer(&fuse{cancel: a.cancel})
	}
	// A definition that is looked at for too long says nothing.
	timer := time.AfterFunc(DefaultTimeout, a.cancel.Cancel)
	defer timer.Stop()
	err = query.Iter(a.ctx, func(r topdown.QueryResult) error {
		if results = append(results, r); len(results) == most {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return results, nil
}

// query returns a query with the account's context, as policies have it.
func (a *account) query(body ast.Body) *topdown.Query {
	return topdown.NewQuery(body).
		WithCompiler(a.compiler).
		WithStore(a.src.store).
		WithTransaction(a.txn).
		WithInput(a.input).
		WithCancel(a.cancel).
		WithMetrics(metrics.NoOp()).
		WithBuiltins(a.src.guards.builtins).
		WithTime(clockOf(a.ev)).
		WithInterQueryBuiltinValueCache(a.src.values)
}

// resolve finds the rule that a call or reference in a file means; ok is false
// if it is no rule of the policy's own files or the library.
func (a *account) resolve(f *parsed, ref ast.Ref) (pkg, name string, ok bool) {
	parts := ground(ref)
	switch head, _ := ref[0].Value.(ast.Var); {
	case ref[0].Equal(ast.DefaultRootDocument):
	case len(ref) == 1 || len(parts) < len(ref)-1 || !imported(f, head):
		parts = append(strings.Split(f.pkg, "."), string(head))
	default:
		for _, imp := range f.Imports {
			if path, isRef := imp.Path.Value.(ast.Ref); isRef && imp.Name() == head && path.HasPrefix(ast.DefaultRootRef) {
				parts = append(ground(path), parts...)
			}
		}
	}
	for _, file := range a.files {
		rest, below := strings.CutPrefix(strings.Join(parts, "."), file.pkg+".")
		if !below {
			continue
		}
		rule, _, _ := strings.Cut(rest, ".")
		for _, r := range file.Rules {
			if ruleNameOf(r) == rule {
				return file.pkg, rule, true
			}
		}
	}
	return "", "", false
}

func imported(f *parsed, name ast.Var) bool {
	for _, imp := range f.Imports {
		if imp.Name() == name {
			return true
		}
	}
	return false
}
