package policycheck

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

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
