package policycheck

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"
)

// maxDepth bounds how far values are followed through functions and rules, and
// maxWork how many terms are looked at for one rule of a policy. Beyond them
// values may be anything.
const (
	maxDepth = 40
	maxWork  = 200_000
)

// eval returns what a term may be.
func (c *checker) eval(s *scope, t *ast.Term) value {
	if c.work++; c.depth >= maxDepth || c.work > maxWork {
		return anything
	}
	c.depth++
	defer func() { c.depth-- }()
	switch v := t.Value.(type) {
	case ast.Null:
		return value{{kinds: null}}
	case ast.Boolean:
		return value{{kinds: boolean}}
	case ast.Number:
		return value{{kinds: number}}
	case ast.String:
		return value{{kinds: text, enum: []string{string(v)}}}
	case *ast.TemplateString:
		return value{{kinds: text}}
	case ast.Var:
		return c.evalRef(s, ast.Ref{t})
	case ast.Ref:
		return c.evalRef(s, v)
	case *ast.Array:
		return c.collection(s, array, v.Len(), v.Foreach)
	case ast.Set:
		return c.collection(s, set, v.Len(), v.Foreach)
	case ast.Object:
		return value{c.literal(s, v)}
	case *ast.ArrayComprehension:
		return value{{kinds: array, items: &shape{union: c.inner(s, v.Body, v.Term)}}}
	case *ast.SetComprehension:
		return value{{kinds: set, items: &shape{union: c.inner(s, v.Body, v.Term)}}}
	case ast.Call:
		return c.evalCall(s, v)
	}
	return anything
}

func (c *checker) collection(s *scope, k kinds, n int, each func(func(*ast.Term))) value {
	var items value
	each(func(t *ast.Term) { items = items.and(c.eval(s, t)) })
	if n == 0 {
		return value{{kinds: k}}
	}
	return value{{kinds: k, items: &shape{union: items}}}
}

// literal returns the shape of an object that is written out. Where all of its
// keys are constant it has no other fields.
func (c *checker) literal(s *scope, o ast.Object) *shape {
	out := &shape{kinds: object, fields: map[string]*shape{}}
	o.Foreach(func(k, v *ast.Term) {
		if name, ok := k.Value.(ast.String); ok {
			out.fields[string(name)] = &shape{union: c.eval(s, v)}
		} else {
			out.rest = &shape{}
		}
	})
	return out
}

// inner evaluates the term of a comprehension.
func (c *checker) inner(s *scope, body ast.Body, t *ast.Term) value {
	in := s.child()
	in.read(body)
	if v := c.eval(in, t); len(v) > 0 {
		return v
	}
	return anything
}

// evalRef follows a reference.
func (c *checker) evalRef(s *scope, ref ast.Ref) value {
	return c.follow(s, ref, nil)
}

// follow evaluates a reference step by step. After each step it tells step, if
// there is one, what there was and what came of it; step may stop it.
func (c *checker) follow(s *scope, ref ast.Ref, step func(i int, ref ast.Ref, before, after value) bool) value {
	ref = s.unit.resolve(ref)
	v, from, home := c.head(s, ref)
	v = c.demanded(s, home, ref[:from], v)
	for i := from; i < len(ref); i++ {
		if v.any() {
			if step != nil {
				step(i, ref, v, anything)
			}
			return anything
		}
		before := v
		switch key := ref[i].Value.(type) {
		case ast.String:
			v = v.field(string(key))
		default:
			v = v.elements()
		}
		v = c.demanded(s, home, ref[:i+1], v)
		if step != nil && !step(i, ref, before, v) {
			return v
		}
	}
	return v
}

// head evaluates the beginning of a reference: it returns how many terms that
// took, and the scope in which its variable is bound, nil for input.
func (c *checker) head(s *scope, ref ast.Ref) (value, int, *scope) {
	name, ok := ref[0].Value.(ast.Var)
	switch {
	case !ok:
		return c.eval(s, ref[0]), 1, s
	case name == ast.InputRootDocument.Value:
		return s.input, 1, nil
	case name == ast.DefaultRootDocument.Value:
		return c.data(s, ref)
	}
	if in, b, found := s.find(name); found {
		return c.bound(b), 1, in
	}
	if rules := s.unit.rules[string(name)]; rules != nil {
		return c.rule(s, s.unit, string(name)), 1, nil
	}
	return anything, 1, nil
}

// bound evaluates a variable.
func (c *checker) bound(b binding) value {
	switch {
	case b.known:
		return b.val
	case b.fn != "":
		return c.argument(b.fn, b.arg)
	case b.element:
		return c.eval(b.in, b.term).elements()
	}
	return c.eval(b.in, b.term)
}

// demanded leaves of v what the expressions around a reference allow.
func (c *checker) demanded(s, home *scope, ref ast.Ref, v value) value {
	at := ""
	for ; s != nil; s = s.up {
		for _, d := range s.facts {
			if d.busy || d.expr != nil && d.expr == c.skip {
				continue
			}
			if at == "" {
				at = prefix(ref)
			}
			if d.at != at {
				continue
			}
			if d.is != 0 {
				v = v.narrow(d.is)
				continue
			}
			d.busy = true
			allowed := c.eval(s, d.term)
			d.busy = false
			if d.in {
				allowed = allowed.elements()
			}
			v = v.only(d.field, allowed)
		}
		if s == home {
			break
		}
	}
	return v
}

// rule evaluates a rule of a package that is no function.
func (c *checker) rule(s *scope, u *unit, name string) value {
	key := u.pkg + "." + name
	if u.lib {
		key = s.unit.pkg + " " + key
	}
	if v, ok := c.memo[key]; ok {
		return v
	}
	c.memo[key] = anything // while it is being worked out
	skip := c.skip
	c.skip = nil
	var v value
	for _, r := range u.rules[name] {
		for ; r != nil; r = r.Else {
			v = v.and(c.ruleValue(s, u, r))
		}
	}
	c.skip = skip
	c.memo[key] = v
	return v
}

func (c *checker) ruleValue(s *scope, u *unit, r *ast.Rule) value {
	if len(r.Head.Args) > 0 || len(r.Head.Ref()) != 1 {
		return anything
	}
	in := c.scopeOf(u, r)
	if u.lib {
		in.input = s.input
	}
	in.read(r.Body)
	switch r.Head.RuleKind() {
	case ast.MultiValue:
		return value{{kinds: set, items: &shape{union: c.eval(in, r.Head.Key)}}}
	default:
		if r.Head.Value == nil {
			return value{{kinds: boolean}}
		}
		return c.eval(in, r.Head.Value)
	}
}

// scopeOf returns the outermost scope of a rule, with its arguments.
func (c *checker) scopeOf(u *unit, r *ast.Rule) *scope {
	s := &scope{unit: u, rule: r, input: u.input, vars: map[ast.Var]binding{}}
	for i, a := range r.Head.Args {
		if v, ok := a.Value.(ast.Var); ok {
			s.vars[v] = binding{fn: u.pkg + "." + ruleName(r), arg: i}
			continue
		}
		s.open(a)
	}
	return s
}

func ruleName(r *ast.Rule) string {
	name, _ := r.Head.Ref()[0].Value.(ast.Var)
	return string(name)
}

// typed returns a value of one of OPA's types.
func typed(t types.Type) value {
	switch t := t.(type) {
	case types.String:
		return value{{kinds: text}}
	case types.Number:
		return value{{kinds: number}}
	case types.Boolean:
		return value{{kinds: boolean}}
	case *types.NamedType:
		return typed(t.Type)
	}
	return anything
}
