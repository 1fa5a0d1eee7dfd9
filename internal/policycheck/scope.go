package policycheck

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// A scope holds what the expressions of one body say about its variables.
type scope struct {
	up    *scope
	unit  *unit
	rule  *ast.Rule
	input value
	vars  map[ast.Var]binding
	facts []*demand
	depth int // of helpers that are looked into
}

// A binding is where a variable gets its values from.
type binding struct {
	known   bool      // val holds them
	val     value     // valid if known
	term    *ast.Term // what it equals, or iterates over
	in      *scope    // where term stands
	element bool      // it is an element of term
	fn      string    // it is argument arg of this function
	arg     int
}

// child returns the scope of a body within s.
func (s *scope) child() *scope {
	return &scope{up: s, unit: s.unit, rule: s.rule, input: s.input, vars: map[ast.Var]binding{}}
}

// find returns the scope that binds a variable.
func (s *scope) find(v ast.Var) (*scope, binding, bool) {
	for ; s != nil; s = s.up {
		if b, ok := s.vars[v]; ok {
			return s, b, true
		}
	}
	return nil, binding{}, false
}

// read collects what a body says.
func (s *scope) read(body ast.Body) {
	for _, e := range body {
		if e.Negated {
			continue
		}
		switch t := e.Terms.(type) {
		case *ast.SomeDecl:
			s.some(e, t)
		case []*ast.Term:
			if len(e.With) == 0 {
				s.relation(e, t)
				s.helper(t[0], t[1:])
				s.texts(t)
			}
		case *ast.Term:
			if len(e.With) == 0 {
				s.helper(t, nil)
			}
		}
	}
}

func (s *scope) some(e *ast.Expr, d *ast.SomeDecl) {
	for _, symbol := range d.Symbols {
		switch t := symbol.Value.(type) {
		case ast.Var:
			s.vars[t] = binding{known: true, val: anything}
		case ast.Call:
			if len(e.With) > 0 {
				s.open(t[1])
				continue
			}
			coll := t[len(t)-1]
			s.bind(t[len(t)-2], binding{term: coll, in: s, element: true})
			if len(t) == 4 {
				s.bind(t[1], binding{known: true, val: anything})
			}
		}
	}
}

// relation reads x := t, x == t and x in t.
func (s *scope) relation(e *ast.Expr, t []*ast.Term) {
	switch op := t[0].String(); op {
	case "assign", "eq", "equal":
		if len(t) != 3 {
			return
		}
		if op == "assign" {
			s.bind(t[1], binding{term: t[2], in: s})
		} else if op == "eq" {
			s.unify(t[1], t[2])
			s.unify(t[2], t[1])
		}
		s.demand(e, t[1], t[2], false)
		s.demand(e, t[2], t[1], false)
	case "internal.member_2":
		s.demand(e, t[1], t[2], true)
	case "is_string", "is_array", "is_boolean", "is_number", "is_object":
		s.typed(t[1], typeTests[op])
	}
}

// unify binds a variable that nothing else does.
func (s *scope) unify(left, right *ast.Term) {
	v, ok := left.Value.(ast.Var)
	if _, _, bound := s.find(v); !ok || bound || s.unit.rules[string(v)] != nil || s.unit.imports[v] != nil {
		return
	}
	s.bind(left, binding{term: right, in: s})
}

// bind gives the variables of a pattern their values.
func (s *scope) bind(pattern *ast.Term, b binding) {
	switch p := pattern.Value.(type) {
	case ast.Var:
		s.vars[p] = b
	case *ast.Array:
		if literal, ok := literalArray(b, p.Len()); ok {
			for i := range p.Len() {
				s.bind(p.Elem(i), binding{term: literal.Elem(i), in: b.in})
			}
			return
		}
		s.open(pattern)
	default:
		s.open(pattern)
	}
}

func literalArray(b binding, n int) (*ast.Array, bool) {
	if b.term == nil || b.element {
		return nil, false
	}
	literal, ok := b.term.Value.(*ast.Array)
	return literal, ok && literal.Len() == n
}

// open binds the variables of a pattern to anything.
func (s *scope) open(pattern *ast.Term) {
	if pattern.IsGround() {
		return
	}
	ast.WalkVars(pattern, func(v ast.Var) bool {
		if _, bound := s.vars[v]; !bound {
			s.vars[v] = binding{known: true, val: anything}
		}
		return false
	})
}
