package mutate

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// A Mutant is a module with one change that a good test notices.
type Mutant struct {
	File   string
	Line   int    // 1-based, where the changed text begins
	Column int    // 1-based, in bytes
	Text   string // what was changed, on one line
	Change string // what was done to it, such as "condition deleted" or "> became <="

	// Module has the change. Positions in it are those of the original.
	Module *ast.Module
}

// String says where the mutant differs: file:line: text: change.
func (m Mutant) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", m.File, m.Line, m.Text, m.Change)
}

// Advice says, for a survivor, what is to be done about it.
func (m Mutant) Advice() string {
	switch {
	case m.Change == conditionDeleted:
		return "no test notices; add a case where this alone does not hold, or drop it"
	case m.Change == ruleDeleted, m.Change == branchDeleted:
		return "no test notices; add a case that nothing else covers, or drop it"
	case m.Change == memberDropped:
		return "no test notices; add a case with it, or drop it"
	}
	return "no test notices; add a case that this decides"
}

// What can be done to a policy, beside "== became !=" and the like.
const (
	conditionDeleted = "condition deleted"
	conditionNegated = "condition negated"
	lostNot          = "lost its not"
	ruleDeleted      = "rule deleted"
	branchDeleted    = "branch deleted"
	memberDropped    = "member dropped"
)

// Of gives the mutants of a module, rule by rule, always in the same order.
//
// These are not made, because nothing could tell them from the original, or
// because they cannot compile, or because another one is the same: a condition
// that says only true (one that says false is deleted, no more); a declaration
// without a condition ("some x"); an assignment, be it deleted or negated, of
// which a variable can be used; the negation of "some x in xs" and of "every".
// Metadata and "with" are left alone, and so are texts: a reason may say what it
// likes.
func Of(m *ast.Module) iter.Seq[Mutant] {
	return func(yield func(Mutant) bool) {
		w := walker{module: m.Copy(), yield: yield}
		w.rules()
	}
}

// A walker changes its module in place, hands out a copy, and changes it back.
// done is set when nobody wants more.
type walker struct {
	module *ast.Module
	yield  func(Mutant) bool
	done   bool
	count  bool // nobody needs the modules
}

// count returns how many mutants Of gives.
func count(m *ast.Module) int {
	n := 0
	w := walker{module: m.Copy(), count: true, yield: func(Mutant) bool {
		n++
		return true
	}}
	w.rules()
	return n
}

// emit hands out the module as it is now.
func (w *walker) emit(loc *ast.Location, text, change string) {
	if w.done {
		return
	}
	m := Mutant{File: loc.File, Line: loc.Row, Column: loc.Col, Text: oneLine(text), Change: change}
	if !w.count {
		m.Module = w.module.Copy()
	}
	w.done = !w.yield(m)
}

// oneLine joins the lines of a piece of Rego.
func oneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
}

func (w *walker) rules() {
	for i, r := range w.module.Rules {
		if w.done {
			return
		}
		if r.Default {
			w.deleteDefault(i)
			w.head(r)
			continue
		}
		change := ruleDeleted
		for branch := r; branch != nil; branch = branch.Else {
			w.deleteRule(branch, change)
			w.body(branch.Body)
			w.head(branch)
			change = branchDeleted
		}
	}
}

// deleteRule makes a definition, or one branch of it, never hold. What it names
// is still named, and nobody else loses a name: see deleteExpr.
func (w *walker) deleteRule(r *ast.Rule, change string) {
	body := r.Body
	never := ast.NewExpr(ast.BooleanTerm(false)).SetLocation(r.Location)
	r.Body = slices.Clone(body)
	r.Body.Append(never)
	w.emit(r.Location, string(r.Head.Location.Text), change)
	r.Body = body
}

func (w *walker) deleteDefault(i int) {
	all := w.module.Rules
	w.module.Rules = slices.Delete(slices.Clone(all), i, i+1)
	w.emit(all[i].Location, string(all[i].Head.Location.Text), ruleDeleted)
	w.module.Rules = all
}

// head changes constants in what a rule says. The members of an object in a
// partial set, such as the help of a denial, are words, not conditions.
func (w *walker) head(r *ast.Rule) {
	w.term(r.Head.Value)
	if key := r.Head.Key; key != nil {
		if o, ok := key.Value.(ast.Object); ok {
			w.elements(o)
			return
		}
		w.term(key)
	}
}

func (w *walker) body(b ast.Body) {
	for i, e := range b {
		if w.done {
			return
		}
		w.deleteExpr(b, i)
		if !isBoolean(e) {
			w.negate(e)
			w.terms(e)
		}
	}
}

// deleteExpr makes a condition hold always. What it names is still named, since
// event cases run policies as strictly as gate does, which allows no variable
// that is not used: [true | the condition] != null.
func (w *walker) deleteExpr(b ast.Body, i int) {
	e := b[i]
	if isTrue(e) || declares(e) {
		return
	}
	list := ast.ArrayComprehensionTerm(ast.BooleanTerm(true), ast.NewBody(e)).SetLocation(e.Location)
	always := ast.NotEqual.Expr(list, ast.NullTerm()).SetLocation(e.Location)
	if isBoolean(e) || binds(b, e) {
		always = ast.NewExpr(ast.BooleanTerm(true)).SetLocation(e.Location)
	}
	index := e.Index
	always.Index = index
	b[i] = always
	w.emit(e.Location, string(e.Location.Text), conditionDeleted)
	b[i], e.Index = e, index
}

// binds reports that an expression may give a value to a variable that the body
// declares with a bare "some x": x has none inside a comprehension.
func binds(b ast.Body, e *ast.Expr) bool {
	declared := map[ast.Var]bool{}
	for _, other := range b {
		if d, ok := other.Terms.(*ast.SomeDecl); ok {
			for _, t := range d.Symbols {
				if v, ok := t.Value.(ast.Var); ok {
					declared[v] = true
				}
			}
		}
	}
	found := false
	ast.WalkVars(e, func(v ast.Var) bool {
		found = found || declared[v]
		return found
	})
	return found
}

// isTrue reports the body that OPA gives a rule without one, and true itself.
func isTrue(e *ast.Expr) bool {
	return isBoolean(e) && !e.Negated && ast.Boolean(true).Equal(e.Terms.(*ast.Term).Value)
}

// isBoolean reports a condition that is true or false, with or without a not:
// deleted or turned around, it becomes the other one.
func isBoolean(e *ast.Expr) bool {
	t, ok := e.Terms.(*ast.Term)
	if !ok {
		return false
	}
	_, ok = t.Value.(ast.Boolean)
	return ok
}

// declares reports expressions that are there for their variables.
func declares(e *ast.Expr) bool {
	if d, ok := e.Terms.(*ast.SomeDecl); ok {
		_, member := d.Symbols[0].Value.(ast.Call)
		return !member
	}
	if !e.IsAssignment() {
		return false
	}
	found := false
	ast.WalkVars(e.Operand(0), func(v ast.Var) bool {
		found = found || !v.IsWildcard()
		return found
	})
	return found
}

// opposites are the comparisons, each with the one that holds when it does not.
func opposite(operator string) string {
	switch operator {
	case "==":
		return "!="
	case "!=":
		return "=="
	case "<":
		return ">="
	case ">=":
		return "<"
	case ">":
		return "<="
	case "<=":
		return ">"
	}
	return ""
}

// negate makes a condition hold when it did not: another comparison, or not.
func (w *walker) negate(e *ast.Expr) {
	switch e.Terms.(type) {
	case *ast.SomeDecl, *ast.Every:
		return
	}
	if declares(e) {
		return
	}
	text := string(e.Location.Text)
	if old := operatorOf(e); old != nil && !e.Negated && opposite(old.Infix) != "" {
		w.compare(e, old.Infix)
		return
	}
	e.Negated = !e.Negated
	change := conditionNegated
	if !e.Negated {
		change = lostNot
	}
	w.emit(e.Location, text, change)
	e.Negated = !e.Negated
}

// operatorOf returns the builtin that an expression calls, or nil.
func operatorOf(e *ast.Expr) *ast.Builtin {
	if !e.IsCall() {
		return nil
	}
	return ast.BuiltinMap[e.Operator().String()]
}

func (w *walker) compare(e *ast.Expr, infix string) {
	terms := e.Terms.([]*ast.Term)
	operator := terms[0]
	for _, b := range ast.Builtins {
		if b.Infix == opposite(infix) {
			terms[0] = ast.NewTerm(b.Ref()).SetLocation(operator.Location)
			w.emit(e.Location, string(e.Location.Text), infix+" became "+b.Infix)
			terms[0] = operator
		}
	}
}
