package policytest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/tester"
)

// What is wrong with a test that proves nothing.
const (
	neverLooks = "it never looks at a policy; import the policy's package and say what one of its rules must be"
	bareName   = "line %d only names a set, which is true even when it is empty; compare it, or say count(…) == 0 or count(…) > 0"
	emptyList  = "line %d says every of an empty list, which is always true"
)

// idle finds the tests that pass whatever the policies say: what is wrong, by
// file:line. What can only be told by running is not found; mutation does that.
func (s *Suite) idle() map[string]string {
	found := map[string]string{}
	for _, name := range s.tests {
		f := s.files[name]
		for _, r := range testRules(f.module) {
			if why := s.idleness(f, r); why != "" && !strings.HasPrefix(ruleName(r), tester.SkipTestPrefix) {
				found[fmt.Sprintf("%s:%d", name, r.Location.Row)] = why
			}
		}
	}
	return found
}

// judgeIdle fails the tests that passed and prove nothing.
func (s *Suite) judgeIdle(results []Result) {
	for i := range results {
		r := &results[i]
		at := fmt.Sprintf("%s:%d", r.File, r.Line)
		if why := s.proofless[at]; why != "" && r.Passed() {
			r.Failed, r.Message = true, fmt.Sprintf("%s: it proves nothing: %s", at, why)
		}
	}
}

// idleness says why a test proves nothing, "" if it may prove something.
func (s *Suite) idleness(f *file, r *ast.Rule) string {
	if every := emptyEvery(f.module, r); every != nil {
		return fmt.Sprintf(emptyList, every.Domain.Loc().Row)
	}
	reach := reader{suite: s, module: f.module, seen: map[string]bool{}}
	reads, decides, bare := false, false, 0
	reach.expressions(r, func(e *ast.Expr) {
		switch {
		case !reach.readsPolicy(e):
		case s.bareSet(reach.module, e):
			reads, bare = true, e.Loc().Row
		default:
			reads, decides = true, true
		}
	})
	switch {
	case decides:
		return ""
	case !reads:
		return neverLooks
	}
	return fmt.Sprintf(bareName, bare)
}

// checkTests reports test files in which nothing is tested, and rules of test
// files that are neither tests nor used by any.
func (s *Suite) checkTests() error {
	var errs []error
	for _, name := range s.tests {
		f := s.files[name]
		if f == nil {
			continue // reported already
		}
		imported := s.imported(name)
		if len(testRules(f.module)) == 0 && !imported {
			errs = append(errs, fmt.Errorf("%s:%d: no rule begins with test_; write one, or remove the file",
				name, f.module.Package.Location.Row))
		}
		if !imported {
			errs = append(errs, unused(f.module)...)
		}
	}
	return errors.Join(errs...)
}

// unused reports rules that nothing in their file reads: a test whose name is
// misspelt never runs, and looks as if it passed.
func unused(m *ast.Module) []error {
	var errs []error
	said := map[string]bool{}
	for _, r := range m.Rules {
		name := ruleName(r)
		if isTest(r) || said[name] || slices.ContainsFunc(m.Rules, func(o *ast.Rule) bool { return ruleName(o) != name && reads(o, name) }) {
			continue
		}
		said[name] = true
		errs = append(errs, fmt.Errorf("%s:%d: %s is no test, for its name does not begin with test_, and nothing uses it",
			r.Location.File, r.Location.Row, name))
	}
	return errs
}

// reads reports that a rule mentions a name of its file.
func reads(r *ast.Rule, name string) bool {
	found := false
	ast.WalkVars(r, func(v ast.Var) bool {
		found = found || string(v) == name
		return found
	})
	full := r.Module.Package.Path.Append(ast.StringTerm(name))
	ast.WalkRefs(r, func(ref ast.Ref) bool {
		found = found || ref.HasPrefix(full)
		return found
	})
	return found
}

// imported reports that another test file reads from one: it holds what tests
// share.
func (s *Suite) imported(name string) bool {
	f := s.files[name]
	for other, o := range s.files {
		reads := o.pkg == f.pkg || slices.ContainsFunc(o.refs, func(r ast.Ref) bool { return touches(r, f) })
		if o.test && other != name && reads {
			return true
		}
	}
	return false
}

// A reader follows what expressions of a test read, through the helpers of its
// own file.
type reader struct {
	suite  *Suite
	module *ast.Module
	seen   map[string]bool // helpers that are being looked at
}

// expressions visits the expressions of a rule that are conditions, those
// within every included, and the value that it has.
func (r *reader) expressions(rule *ast.Rule, visit func(*ast.Expr)) {
	for ; rule != nil; rule = rule.Else {
		r.body(rule.Body, visit)
		if v := rule.Head.Value; v != nil {
			visit(ast.NewExpr(v).SetLocation(rule.Location))
		}
	}
}

func (r *reader) body(body ast.Body, visit func(*ast.Expr)) {
	for _, e := range body {
		if every, ok := e.Terms.(*ast.Every); ok {
			visit(ast.NewExpr(every.Domain).SetLocation(e.Location))
			r.body(every.Body, visit)
			continue
		}
		visit(e)
	}
}

// readsPolicy reports that an expression depends on a package that is tested.
func (r *reader) readsPolicy(node any) bool {
	found := false
	ast.WalkRefs(node, func(ref ast.Ref) bool {
		found = found || len(ref) > 0 && r.leadsToPolicy(ref)
		return found
	})
	if found {
		return true
	}
	ast.WalkVars(node, func(v ast.Var) bool {
		found = found || r.leadsToPolicy(ast.Ref{ast.NewTerm(v)})
		return found
	})
	return found
}

func (r *reader) leadsToPolicy(ref ast.Ref) bool {
	full := resolved(r.module, ref)
	if full.HasPrefix(ast.DefaultRootRef) {
		return r.suite.namesPolicy(full, r.seen)
	}
	head, ok := ref[0].Value.(ast.Var)
	return ok && r.helper(r.module, string(head))
}

// helper reports that a rule of a test file reads from a policy.
func (r *reader) helper(m *ast.Module, name string) bool {
	key := m.Package.Path.String() + "." + name
	if r.seen[key] {
		return false
	}
	r.seen[key] = true
	defer delete(r.seen, key)
	inside := reader{suite: r.suite, module: m, seen: r.seen}
	return slices.ContainsFunc(m.Rules, func(rule *ast.Rule) bool {
		return ruleName(rule) == name && inside.readsPolicy(rule)
	})
}

// namesPolicy reports that a reference below data reads a tested package, or a
// helper of a test file that does.
func (s *Suite) namesPolicy(ref ast.Ref, seen map[string]bool) bool {
	ref = ref.GroundPrefix()
	for _, f := range s.files {
		path := f.module.Package.Path
		switch {
		case !touches(ref, f):
		case f.policy:
			return true
		case len(ref) > len(path) && f.test:
			rule, _ := ref[len(path)].Value.(ast.String)
			r := reader{suite: s, module: f.module, seen: seen}
			if r.helper(f.module, string(rule)) {
				return true
			}
		}
	}
	return false
}

// resolved writes the alias of an import out.
func resolved(m *ast.Module, ref ast.Ref) ast.Ref {
	head, _ := ref[0].Value.(ast.Var)
	for _, imp := range m.Imports {
		if path, ok := imp.Path.Value.(ast.Ref); ok && imp.Name() == head {
			return path.Concat(ref[1:])
		}
	}
	return ref
}

// bareSet reports an expression that is nothing but the name of a set rule of a
// policy.
func (s *Suite) bareSet(m *ast.Module, e *ast.Expr) bool {
	t, ok := e.Terms.(*ast.Term)
	if !ok || e.Negated {
		return false
	}
	ref, ok := t.Value.(ast.Ref)
	if !ok {
		return false
	}
	full := resolved(m, ref)
	for _, f := range s.files {
		if !f.policy || !full.HasPrefix(f.module.Package.Path) || len(full) != len(f.module.Package.Path)+1 {
			continue
		}
		name, _ := full[len(full)-1].Value.(ast.String)
		return slices.ContainsFunc(f.module.Rules, func(r *ast.Rule) bool {
			return ruleName(r) == string(name) && r.Head.RuleKind() == ast.MultiValue
		})
	}
	return false
}

// emptyEvery finds an every over a list that has nothing in it, written there or
// in a constant of the file.
func emptyEvery(m *ast.Module, r *ast.Rule) (found *ast.Every) {
	ast.WalkExprs(r, func(e *ast.Expr) bool {
		if every, ok := e.Terms.(*ast.Every); ok && isEmpty(constant(m, r, every.Domain)) {
			found = every
		}
		return found != nil
	})
	return found
}

// constant follows a name to the value that the file gives it.
func constant(m *ast.Module, r *ast.Rule, t *ast.Term) ast.Value {
	name, ok := t.Value.(ast.Var)
	if !ok {
		return t.Value
	}
	for _, e := range r.Body {
		if e.IsAssignment() && e.Operand(0).Value.Compare(name) == 0 {
			return e.Operand(1).Value
		}
	}
	for _, other := range m.Rules {
		if ruleName(other) == string(name) && other.Head.Value != nil {
			return other.Head.Value.Value
		}
	}
	return name
}

func isEmpty(v ast.Value) bool {
	switch v := v.(type) {
	case *ast.Array:
		return v.Len() == 0
	case ast.Set:
		return v.Len() == 0
	case ast.Object:
		return v.Len() == 0
	}
	return false
}

// ruleName is the first part of a rule's name.
func ruleName(r *ast.Rule) string {
	if len(r.Head.Ref()) == 0 {
		return ""
	}
	name, _ := r.Head.Ref()[0].Value.(ast.Var)
	return string(name)
}
