package policycheck

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// A call is one place where a function is called.
type call struct {
	in   *scope
	args []*ast.Term
}

// A pair says that a function looks up the field that argument name says in
// argument thing.
type pair struct{ thing, name int }

// function returns the package and name of the function that a call means,
// none for builtins.
func (c *checker) function(s *scope, operator *ast.Term) (*unit, string) {
	ref, ok := operator.Value.(ast.Ref)
	if !ok {
		return nil, ""
	}
	ref = s.unit.resolve(ref)
	if len(ref) == 1 {
		name, _ := ref[0].Value.(ast.Var)
		if s.unit.rules[string(name)] != nil {
			return s.unit, string(name)
		}
		return nil, ""
	}
	if !ref[0].Equal(ast.DefaultRootDocument) {
		return nil, ""
	}
	names := strings.Split(strings.TrimPrefix(ref.String(), "data."), ".")
	u := c.byName[strings.Join(names[:len(names)-1], ".")]
	if u == nil || u.rules[names[len(names)-1]] == nil {
		return nil, ""
	}
	return u, names[len(names)-1]
}

// evalCall evaluates a call: of a function with these arguments, or of a
// builtin by its type.
func (c *checker) evalCall(s *scope, t ast.Call) value {
	if u, name := c.function(s, t[0]); u != nil {
		return c.apply(s, u, name, t[1:])
	}
	arg := func(i int) value { return c.eval(s, t[i]) }
	switch op := t[0].String(); {
	case op == "object.get" && len(t) == 4:
		v := arg(1)
		for _, key := range keysOf(t[2]) {
			v = v.field(key)
		}
		if len(v) == 0 || keysOf(t[2]) == nil {
			return anything
		}
		return v.and(arg(3))
	case op == "or", op == "array.concat":
		return arg(1).and(arg(2))
	case op == "and", op == "minus", op == "array.slice", op == "array.reverse":
		if v := arg(1); v.kinds() == number {
			return value{{kinds: number}}
		} else {
			return v
		}
	case op == "sort":
		return value{{kinds: array, items: &shape{union: arg(1).elements()}}}
	}
	if b, ok := ast.BuiltinMap[t[0].String()]; ok && b.Decl != nil {
		return typed(b.Decl.Result())
	}
	return anything
}

// keysOf returns the path that a term names, nil if it is not constant.
func keysOf(t *ast.Term) []string {
	switch v := t.Value.(type) {
	case ast.String:
		return []string{string(v)}
	case *ast.Array:
		var keys []string
		for i := range v.Len() {
			s, ok := v.Elem(i).Value.(ast.String)
			if !ok {
				return nil
			}
			keys = append(keys, string(s))
		}
		return keys
	}
	return nil
}

// apply evaluates a function with the values of its arguments.
func (c *checker) apply(s *scope, u *unit, name string, args []*ast.Term) value {
	if c.depth > maxDepth/2 {
		return anything
	}
	values := make([]value, len(args))
	for i, a := range args {
		values[i] = c.eval(s, a)
	}
	var out value
	for _, r := range u.rules[name] {
		for ; r != nil; r = r.Else {
			out = out.and(c.applyRule(s, u, r, values))
		}
	}
	return out
}

func (c *checker) applyRule(s *scope, u *unit, r *ast.Rule, args []value) value {
	in := &scope{unit: u, rule: r, input: u.input, vars: map[ast.Var]binding{}}
	if u.lib {
		in.input = s.input
	}
	for i, a := range r.Head.Args {
		if i >= len(args) {
			return anything
		}
		if v, ok := a.Value.(ast.Var); ok {
			in.vars[v] = binding{known: true, val: args[i]}
			continue
		}
		in.open(a)
		if a.IsGround() && !meets(c.eval(in, a), args[i]) {
			return nil
		}
	}
	in.read(r.Body)
	if r.Head.Value == nil {
		return value{{kinds: boolean}}
	}
	return c.eval(in, r.Head.Value)
}

// argument returns what the callers of a function give it.
func (c *checker) argument(fn string, i int) value {
	key := fn + "#" + string(rune('0'+i))
	if v, ok := c.memo[key]; ok {
		return v
	}
	c.memo[key] = anything
	calls := c.calls[fn]
	if len(calls) == 0 {
		return anything
	}
	skip := c.skip
	c.skip = nil
	var v value
	for _, at := range calls {
		if i < len(at.args) {
			v = v.and(c.eval(at.in, at.args[i]))
		} else {
			v = anything
		}
	}
	c.skip = skip
	if c.pass == reading {
		delete(c.memo, key) // not all callers are known yet
	} else {
		c.memo[key] = v
	}
	return v
}

// findAccess finds the functions that look a field up by name, such as
// data.gate.lib.is, also those that do it through another one.
func (c *checker) findAccess() {
	for range 4 {
		for _, u := range c.all() {
			for name, rules := range u.rules {
				for _, r := range rules {
					c.accessOf(u, u.pkg+"."+name, r)
				}
			}
		}
	}
}

func (c *checker) accessOf(u *unit, fn string, r *ast.Rule) {
	at := map[ast.Var]int{}
	for i, a := range r.Head.Args {
		if v, ok := a.Value.(ast.Var); ok {
			at[v] = i
		}
	}
	if len(at) < 2 {
		return
	}
	add := func(thing, name *ast.Term) {
		t, isThing := thing.Value.(ast.Var)
		n, isName := name.Value.(ast.Var)
		i, known := at[t]
		j, alsoKnown := at[n]
		p := pair{i, j}
		if isThing && isName && known && alsoKnown && !slices.Contains(c.access[fn], p) {
			c.access[fn] = append(c.access[fn], p)
		}
	}
	s := &scope{unit: u}
	calls := func(t []*ast.Term) {
		if t[0].String() == "object.get" && len(t) == 4 {
			add(t[1], t[2])
		}
		if v, name := c.function(s, t[0]); v != nil {
			for _, p := range c.access[v.pkg+"."+name] {
				if max(p.thing, p.name)+1 < len(t) {
					add(t[p.thing+1], t[p.name+1])
				}
			}
		}
	}
	ast.NewGenericVisitor(func(x any) bool {
		switch x := x.(type) {
		case ast.Ref:
			if len(x) > 1 {
				add(x[0], x[1])
			}
		case ast.Call:
			calls(x)
		case *ast.Expr:
			if t, ok := x.Terms.([]*ast.Term); ok {
				calls(t)
			}
		}
		return false
	}).Walk(r)
}
