package policycheck

import (
	"fmt"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// maxConditions bounds the bodies that are compared with each other.
const maxConditions = 20

// A definition is one rule in the form in which rules are compared: what it
// yields, and on which conditions.
type definition struct {
	rule       *ast.Rule
	args       []*ast.Term
	yields     *ast.Term
	conditions []*ast.Expr
}

// shadows reports rules that can never add anything, because another one
// holds whenever they do.
func (c *checker) shadows() {
	for _, u := range c.units {
		byName := map[string][]definition{}
		for name, rules := range u.rules {
			for _, r := range rules {
				if !r.Default && r.Else == nil && len(r.Head.Ref()) == 1 {
					byName[name] = append(byName[name], define(r))
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			list := byName[name]
			for i := range list {
				for j := range list {
					if i != j {
						c.shadow(u, name, list[i], list[j], i < j)
					}
				}
			}
		}
		for _, severe := range []string{"deny", "halt"} {
			for _, a := range byName[severe] {
				for _, b := range byName["ask"] {
					c.outranked(u, severe, a, b)
				}
			}
		}
	}
}

// define takes a rule apart. A member that the body assigns to a variable
// stands in the variable's place.
func define(r *ast.Rule) definition {
	d := definition{rule: r, args: r.Head.Args, yields: r.Head.Value}
	if r.Head.RuleKind() == ast.MultiValue {
		d.yields = r.Head.Key
	}
	for _, e := range r.Body {
		if t, ok := e.Terms.(*ast.Term); ok && t.Equal(ast.BooleanTerm(true)) && !e.Negated {
			continue
		}
		if e.IsAssignment() && d.yields != nil && e.Operand(0).Equal(d.yields) && !usedTwice(r, e.Operand(0)) {
			d.yields = e.Operand(1)
			continue
		}
		d.conditions = append(d.conditions, e)
	}
	return d
}

// usedTwice reports whether a body reads the variable that it assigns.
func usedTwice(r *ast.Rule, v *ast.Term) bool {
	n := 0
	ast.WalkVars(r.Body, func(x ast.Var) bool {
		if v.Value.Compare(x) == 0 {
			n++
		}
		return false
	})
	return n > 1
}

// shadow reports b if a holds whenever b does. first says that a stands first.
func (c *checker) shadow(u *unit, name string, a, b definition, first bool) {
	m := &matching{unit: u}
	f := Finding{File: u.file, Line: b.rule.Location.Row, Column: b.rule.Location.Col, Severity: Error, Rule: "shadowed"}
	line := a.rule.Location.Row
	same := len(a.args) == len(b.args) && m.terms(a.args, b.args) && m.maybe(a.yields, b.yields)
	switch {
	case same && m.implied(a.conditions, b.conditions):
		f.Message = fmt.Sprintf("this definition of %s can never add anything: the one in line %d holds whenever it does", name, line)
		f.Hint = "remove it, or remove the other one if this was to replace it"
		if len(a.conditions) == len(b.conditions) {
			if !first {
				return // the second of two equal ones is reported
			}
			f.Message = fmt.Sprintf("this definition of %s says the same as the one in line %d", name, line)
			f.Hint = "remove one of them"
		}
	case !same && fixedSet(name) && len(a.conditions) > 0 && (&matching{unit: u}).implied(a.conditions, b.conditions):
		if len(a.conditions) == len(b.conditions) && !first {
			return
		}
		f.Severity = Warning
		f.Message = fmt.Sprintf("whenever this %s holds, the one in line %d does, too: it only adds a second reason", name, line)
		f.Hint = "give the other one the condition that is missing, or remove this one"
	default:
		return
	}
	c.addShadow(f)
}

// addShadow reports a rule once, whatever shadows it.
func (c *checker) addShadow(f Finding) {
	for _, said := range c.findings {
		if said.File == f.File && said.Line == f.Line && said.Rule == f.Rule {
			return
		}
	}
	c.add(f)
}

func fixedSet(name string) bool {
	return name == "deny" || name == "ask" || name == "halt" || name == "allow"
}

// outranked reports an ask that a severer rule of the package always decides.
func (c *checker) outranked(u *unit, severe string, a, b definition) {
	if len(a.conditions) == 0 || !(&matching{unit: u}).implied(a.conditions, b.conditions) {
		return
	}
	c.addShadow(Finding{
		File: u.file, Line: b.rule.Location.Row, Column: b.rule.Location.Col, Severity: Error, Rule: "shadowed",
		Message: fmt.Sprintf("this ask never decides: the %s in line %d holds whenever it does", severe, a.rule.Location.Row),
		Hint:    fmt.Sprintf("give the %s the condition that is missing, or remove the ask", severe),
	})
}

// A matching says which term of one rule each local variable of another one
// stands for.
type matching struct {
	unit *unit
	vars map[ast.Var]*ast.Term
	work int
}

// maxMatching bounds the attempts to match two rules; beyond it they are
// different.
const maxMatching = 5000

// implied reports whether each of the conditions a stands among b.
func (m *matching) implied(a, b []*ast.Expr) bool {
	if len(a) == 0 {
		return true
	}
	if len(a) > maxConditions || len(b) > maxConditions || len(a) > len(b) {
		return false
	}
	for _, e := range b {
		if m.work++; m.work > maxMatching {
			return false
		}
		before := maps.Clone(m.vars)
		if m.expr(a[0], e) && m.implied(a[1:], b) {
			return true
		}
		m.vars = before
	}
	return false
}

func (m *matching) expr(a, b *ast.Expr) bool {
	if a.Negated != b.Negated || len(a.With) != 0 || len(b.With) != 0 {
		return false
	}
	switch x := a.Terms.(type) {
	case *ast.Term:
		y, ok := b.Terms.(*ast.Term)
		return ok && m.term(x, y)
	case []*ast.Term:
		y, ok := b.Terms.([]*ast.Term)
		return ok && m.terms(x, y)
	case *ast.SomeDecl:
		y, ok := b.Terms.(*ast.SomeDecl)
		return ok && m.terms(x.Symbols, y.Symbols)
	case *ast.Every:
		y, ok := b.Terms.(*ast.Every)
		return ok && m.maybe(x.Key, y.Key) && m.term(x.Value, y.Value) && m.term(x.Domain, y.Domain) && m.body(x.Body, y.Body)
	}
	return false
}

func (m *matching) body(a, b ast.Body) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !m.expr(a[i], b[i]) {
			return false
		}
	}
	return true
}

func (m *matching) terms(a, b []*ast.Term) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !m.term(a[i], b[i]) {
			return false
		}
	}
	return true
}

func (m *matching) maybe(a, b *ast.Term) bool {
	if a == nil || b == nil {
		return a == b
	}
	return m.term(a, b)
}

func (m *matching) term(a, b *ast.Term) bool {
	switch x := a.Value.(type) {
	case ast.Var:
		return m.variable(x, b)
	case ast.Ref:
		y, ok := b.Value.(ast.Ref)
		return ok && m.terms(x, y)
	case ast.Call:
		y, ok := b.Value.(ast.Call)
		return ok && m.terms(x, y)
	case *ast.Array:
		y, ok := b.Value.(*ast.Array)
		return ok && m.terms(elementsOf(x), elementsOf(y))
	case ast.Object:
		y, ok := b.Value.(ast.Object)
		return ok && m.terms(pairsOf(x), pairsOf(y))
	case *ast.ArrayComprehension:
		y, ok := b.Value.(*ast.ArrayComprehension)
		return ok && m.body(x.Body, y.Body) && m.term(x.Term, y.Term)
	case *ast.SetComprehension:
		y, ok := b.Value.(*ast.SetComprehension)
		return ok && m.body(x.Body, y.Body) && m.term(x.Term, y.Term)
	}
	return a.Equal(b) && a.IsGround()
}

// variable matches a local variable with whatever stands in its place.
func (m *matching) variable(v ast.Var, t *ast.Term) bool {
	local := m.unit.rules[string(v)] == nil && m.unit.imports[v] == nil && !v.Equal(ast.InputRootDocument.Value) &&
		!v.Equal(ast.DefaultRootDocument.Value) && ast.BuiltinMap[string(v)] == nil
	if !local {
		return t.Value.Compare(v) == 0
	}
	if to, ok := m.vars[v]; ok {
		return to.Equal(t)
	}
	if m.vars == nil {
		m.vars = map[ast.Var]*ast.Term{}
	}
	m.vars[v] = t
	return true
}

func elementsOf(a *ast.Array) []*ast.Term {
	var list []*ast.Term
	a.Foreach(func(t *ast.Term) { list = append(list, t) })
	return list
}

func pairsOf(o ast.Object) []*ast.Term {
	var list []*ast.Term
	for _, k := range o.Keys() {
		list = append(list, k, o.Get(k))
	}
	return list
}
