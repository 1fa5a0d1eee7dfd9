package policycheck

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/hook"
)

// A unit is one package.
type unit struct {
	pkg     string // without "data."
	file    string
	module  *ast.Module
	hook    *hook.Hook // nil for helpers
	lib     bool       // part of data.gate.lib
	input   value
	imports map[ast.Var]ast.Ref
	rules   map[string][]*ast.Rule // by name; else branches hang at their rule
	handled map[string]bool        // fields whose unknown values the package looks after
	checker *checker
}

// decides reports whether the package has a rule that stops something.
func (u *unit) decides() bool {
	return len(u.rules["deny"])+len(u.rules["ask"])+len(u.rules["halt"]) > 0
}

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

// A demand is an expression that holds only if a field of something has one of
// the values: for x.kind == "git.push", at is x, field is kind.
type demand struct {
	at    string
	field string
	expr  *ast.Expr
	term  *ast.Term // what the field equals, or is an element of
	in    bool      // an element
	is    kinds     // not 0: at itself has one of these types; field means nothing
	busy  bool      // being evaluated: it says nothing about itself
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

// helper takes over what a rule of the same package demands of input and of its
// arguments, such as is_push(x) of x.kind. Of several definitions any may hold,
// so that they demand nothing.
func (s *scope) helper(name *ast.Term, args []*ast.Term) {
	ref, ok := name.Value.(ast.Ref)
	if !ok {
		ref = ast.Ref{name}
	}
	v, _ := ref[0].Value.(ast.Var)
	rules := s.unit.rules[string(v)]
	if len(ref) != 1 || len(rules) != 1 || rules[0].Else != nil || len(rules[0].Head.Args) != len(args) || s.depth > 3 {
		return
	}
	in := &scope{unit: s.unit, vars: map[ast.Var]binding{}, depth: s.depth + 1}
	in.read(rules[0].Body)
	for _, d := range in.facts {
		if d.is != 0 || !d.term.IsGround() {
			continue
		}
		if strings.HasPrefix(d.at, prefix(ast.InputRootRef)) {
			s.facts = append(s.facts, d)
		}
		for i, a := range rules[0].Head.Args {
			if d.at == prefix(ast.Ref{a}) && args[i].Value != nil {
				own := *d
				own.at = prefix(refOf(s, args[i]))
				s.facts = append(s.facts, &own)
			}
		}
	}
}

// texts notes which arguments of a call must be texts for it to say anything:
// those that every definition of the function asks is_string about.
func (s *scope) texts(t []*ast.Term) {
	if op := t[0].String(); (op == "assign" || op == "eq") && len(t) == 3 {
		inner, ok := t[2].Value.(ast.Call)
		if !ok {
			return
		}
		t = inner
	}
	u, name := s.unit.checker.function(s, t[0])
	if u == nil {
		return
	}
	for i, a := range t[1:] {
		if u.wantsText(name, i) {
			s.typed(a, text)
		}
	}
}

// wantsText reports whether all definitions of a function begin by asking
// whether an argument is a text.
func (u *unit) wantsText(name string, arg int) bool {
	for _, r := range u.rules[name] {
		for ; r != nil; r = r.Else {
			if arg >= len(r.Head.Args) || !asksForText(r.Body, r.Head.Args[arg]) {
				return false
			}
		}
	}
	return len(u.rules[name]) > 0
}

func asksForText(body ast.Body, t *ast.Term) bool {
	for _, e := range body {
		if !e.Negated && e.IsCall() && e.Operator().String() == "is_string" && e.Operand(0).Equal(t) {
			return true
		}
	}
	return false
}

func refOf(s *scope, t *ast.Term) ast.Ref {
	if ref, ok := t.Value.(ast.Ref); ok {
		return s.unit.resolve(ref)
	}
	return ast.Ref{t}
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

var typeTests = map[string]kinds{
	"is_string": text, "is_array": array, "is_boolean": boolean, "is_number": number, "is_object": object,
}

// typed records that a body asks for the type of something.
func (s *scope) typed(t *ast.Term, is kinds) {
	switch v := t.Value.(type) {
	case ast.Var:
		s.facts = append(s.facts, &demand{at: prefix(ast.Ref{t}), is: is})
	case ast.Ref:
		s.facts = append(s.facts, &demand{at: prefix(s.unit.resolve(v)), is: is})
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

// demand records what an expression says about a field.
func (s *scope) demand(e *ast.Expr, field, term *ast.Term, in bool) {
	ref, ok := field.Value.(ast.Ref)
	if !ok || len(ref) < 2 {
		return
	}
	name, ok := ref[len(ref)-1].Value.(ast.String)
	if !ok {
		return
	}
	s.facts = append(s.facts, &demand{at: prefix(s.unit.resolve(ref[:len(ref)-1])), field: string(name), expr: e, term: term, in: in})
}

// prefix is the text by which a prefix of a reference is known.
func prefix(ref ast.Ref) string {
	var b strings.Builder
	for _, t := range ref {
		b.WriteString(t.String())
		b.WriteByte(0)
	}
	return b.String()
}

// resolve replaces an import's name by what it stands for.
func (u *unit) resolve(ref ast.Ref) ast.Ref {
	v, ok := ref[0].Value.(ast.Var)
	if !ok {
		return ref
	}
	to, ok := u.imports[v]
	if !ok {
		return ref
	}
	return append(append(ast.Ref{}, to...), ref[1:]...)
}
