package policycheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/internal/spelling"
)

// compare checks left == right, or left != right if unequal.
func (c *checker) compare(s *scope, e *ast.Expr, unequal bool, left, right *ast.Term) {
	a, b := c.without(s, e, left), c.without(s, e, right)
	if len(a) == 0 || len(b) == 0 {
		return
	}
	if !unequal && scalar(left) && scalar(right) {
		if left.Value.Compare(right.Value) != 0 {
			c.report(s, left.Location, Error, "never", fmt.Sprintf("%s == %s is never true", shown(left), shown(right)), "remove the rule or correct the condition")
		}
		return
	}
	if !c.possible(s, left, a, right, b, nil) || !c.possible(s, right, b, left, a, nil) {
		return
	}
	if unequal {
		return
	}
	c.mismatch(s, left, a, right, b)
	c.nullCompared(s, e, left, a, b)
	c.nullCompared(s, e, right, b, a)
}

// without evaluates a term as if the expression around it demanded nothing.
func (c *checker) without(s *scope, e *ast.Expr, t *ast.Term) value {
	if e != nil {
		c.skip = e
		defer func() { c.skip = nil }()
	}
	return c.eval(s, t)
}

func scalar(t *ast.Term) bool {
	switch t.Value.(type) {
	case ast.Null, ast.Boolean, ast.Number, ast.String:
		return true
	}
	return false
}

// member checks left in right.
func (c *checker) member(s *scope, e *ast.Expr, left, right *ast.Term) {
	a, coll := c.without(s, e, left), c.eval(s, right)
	if len(a) == 0 || len(coll) == 0 {
		return
	}
	if list := literals(right); list != nil {
		for _, t := range list {
			if b := c.eval(s, t); len(b) > 0 {
				c.possible(s, left, a, t, b, list)
				c.mismatch(s, left, a, t, b)
			}
		}
	} else if b := coll.elements(); len(b) > 0 {
		c.possible(s, left, a, right, b, nil)
		c.possible(s, right, b, left, a, nil)
	}
	c.leakingArray(s, e, right, coll)
	c.nullCompared(s, e, left, a, coll.elements())
}

// literals returns the elements of a collection that is written out.
func literals(t *ast.Term) []*ast.Term {
	var list []*ast.Term
	add := func(e *ast.Term) { list = append(list, e) }
	switch v := t.Value.(type) {
	case ast.Set:
		v.Foreach(add)
	case *ast.Array:
		v.Foreach(add)
	}
	return list
}

// possible reports whether something can be one of the texts that it is
// compared with; if not, it says so. listed are texts beside which one stands.
func (c *checker) possible(s *scope, left *ast.Term, a value, right *ast.Term, b value, listed []*ast.Term) bool {
	c.lookedText(s, left, a, right)
	if p, bad := neverMet(a, b); p != nil {
		f := Finding{File: p.unit.file, Line: p.unit.keyLine(p.name), Severity: Error, Rule: "never"}
		known, _ := a.texts()
		f.Message = fmt.Sprintf("param %s: %s is never %q (%s:%d)", p.name, shown(left), bad, s.unit.file, left.Location.Row)
		f.Hint = oneOf(bad, known)
		c.add(f)
		return false
	}
	constant, ok := right.Value.(ast.String)
	if !ok {
		return true
	}
	word := string(constant)
	if closed, ok := a.texts(); ok && !slices.Contains(closed, word) {
		c.report(s, right.Location, Error, "value", fmt.Sprintf("%s is never %q", shown(left), word), c.instead(s, left, word, closed))
		return false
	}
	if f := a.unlike(word); f != nil {
		c.report(s, right.Location, Error, "value", fmt.Sprintf("%s is never %q", shown(left), word), f.is)
		return false
	}
	c.program(s, right, a, word, listed)
	known := a.known()
	if a.kinds() == 0 || a.kinds()&text == 0 || slices.Contains(known, word) {
		return true
	}
	right1 := ""
	for _, k := range known {
		if strings.EqualFold(k, word) || slip(word, []string{k}) != "" {
			right1 = k
		}
	}
	if right1 == "" || slices.ContainsFunc(listed, func(t *ast.Term) bool { return t.Value.Compare(ast.String(right1)) == 0 }) {
		return true
	}
	c.report(s, right.Location, Error, "value", fmt.Sprintf("%s is never %q as far as is known", shown(left), word), didYouMean(right1))
	return false
}

// instead says what something may be in the place of a word that it never is.
func (c *checker) instead(s *scope, left *ast.Term, word string, closed []string) string {
	ref, _ := left.Value.(ast.Ref)
	if h := s.unit.hook; h != nil && len(ref) == 2 && ref.HasPrefix(ast.InputRootRef) {
		switch {
		case ref[1].Equal(ast.StringTerm("hook_event_name")) && c.schema.events[word] != nil:
			return fmt.Sprintf("METADATA says events: [%s]", strings.Join(closed, ", "))
		case ref[1].Equal(ast.StringTerm("tool_name")) && c.schema.tools[word] != nil:
			return fmt.Sprintf("METADATA lets only %s through", strings.Join(closed, ", "))
		}
	}
	return oneOf(word, closed)
}

func oneOf(word string, known []string) string {
	if right := spelling.Nearest(word, known); right != "" {
		return didYouMean(right)
	}
	return "it is one of " + strings.Join(known, ", ")
}

// neverMet finds a parameter's default that the other side can never be.
func neverMet(a, b value) (*param, string) {
	closed, ok := a.texts()
	if !ok {
		return nil, ""
	}
	for _, s := range b {
		for _, d := range s.defaults {
			if s.param != nil && !slices.Contains(closed, d) {
				return s.param, d
			}
		}
	}
	return nil, ""
}

// mismatch reports a comparison of values of different types.
func (c *checker) mismatch(s *scope, left *ast.Term, a value, right *ast.Term, b value) {
	x, y := a.kinds(), b.kinds()
	if x == 0 || y == 0 || x&y != 0 || x == null || y == null {
		return
	}
	term, is, other := left, x, y
	if scalar(left) {
		term, is, other = right, y, x
	}
	hint := fmt.Sprintf("compare it with %s", is&^null)
	if is&(array|set) != 0 {
		hint = fmt.Sprintf("write: some x in %s", shown(term))
	}
	c.report(s, left.Location, Error, "value", fmt.Sprintf("%s is %s, never %s", shown(term), is, other), hint)
}
