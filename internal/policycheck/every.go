package policycheck

import (
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// emptyEvery reports an allow whose every goes over facts and holds of none of
// them: a call about which nothing is known would be allowed.
func (c *checker) emptyEvery(s *scope, e *ast.Expr, domain *ast.Term) {
	if c.pass != reporting || ruleName(s.rule) != "allow" || e.Negated || !c.listsFacts(s, domain) || s.asks(e, domain) {
		return
	}
	c.report(s, domain.Location, Error, "never", fmt.Sprintf("every is true of an empty list, and then this allows a call of which %s knows nothing", shown(domain)),
		fmt.Sprintf("put count(%s) > 0 before it", shown(domain)))
}

// listsFacts reports a list of the facts themselves: of effects, commands, paths
// or hosts.
func (c *checker) listsFacts(s *scope, t *ast.Term) bool {
	if ref := c.origin(s, t); ref != nil {
		return ref.HasPrefix(factsRef) && c.eval(s, t).kinds() == array
	}
	if v, ok := t.Value.(ast.Var); ok {
		in, b, found := s.find(v)
		if !found || b.term == nil || b.element {
			return false
		}
		s, t = in, b.term
	}
	call, ok := t.Value.(ast.Call)
	if !ok {
		return false
	}
	u, name := c.function(s, call[0])
	return u != nil && u.lib && (name == "effects" || name == "commands")
}

// asks reports whether the body around an expression has another condition on a
// term: one that goes through it, counts it or looks into it.
func (s *scope) asks(e *ast.Expr, t *ast.Term) bool {
	return slices.ContainsFunc(s.rule.Body, func(other *ast.Expr) bool {
		if other == e || other.Negated || other.IsEvery() || other.IsAssignment() && (other.Operand(0).Equal(t) || other.Operand(1).Equal(t)) {
			return false
		}
		found := false
		ast.WalkTerms(other, func(x *ast.Term) bool {
			found = found || x.Equal(t) || beginsWith(x, t)
			return found
		})
		return found
	})
}

// beginsWith reports a reference into another one.
func beginsWith(t, of *ast.Term) bool {
	ref, ok := t.Value.(ast.Ref)
	if !ok {
		return false
	}
	if whole, ok := of.Value.(ast.Ref); ok {
		return ref.HasPrefix(whole)
	}
	return len(ref) > 1 && ref[0].Equal(of)
}

// origin follows variables to the reference that a term stands for, nil if it
// stands for something else. Builtins that only change how a text is written are
// looked through.
func (c *checker) origin(s *scope, t *ast.Term) ast.Ref {
	for range maxDepth {
		switch v := t.Value.(type) {
		case ast.Ref:
			return s.unit.resolve(v)
		case ast.Var:
			in, b, found := s.find(v)
			if !found || b.term == nil || b.element {
				return nil
			}
			s, t = in, b.term
		case ast.Call:
			if op := v[0].String(); len(v) < 2 || !slices.Contains([]string{"lower", "upper", "trim_space", "trim", "replace"}, op) {
				return nil
			}
			t = v[1]
		default:
			return nil
		}
	}
	return nil
}
