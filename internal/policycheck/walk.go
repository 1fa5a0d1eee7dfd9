package policycheck

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/internal/rego"
)

// A pass is what a walk over the policies is for.
type pass uint8

const (
	reading   pass = iota // who calls what, and which unknowns are looked after
	reporting             // what is wrong
)

// fields walks over all rules, first to read and then to report.
func (c *checker) fields() {
	for _, c.pass = range []pass{reading, reporting} {
		for _, u := range c.units {
			if c.stopped() {
				return
			}
			for _, r := range u.module.Rules {
				c.work = 0
				c.walkRule(u, r)
			}
		}
	}
}

func (c *checker) walkRule(u *unit, r *ast.Rule) {
	for ; r != nil; r = r.Else {
		s := c.scopeOf(u, r)
		s.read(r.Body)
		c.walkBody(s, r.Body)
		for _, t := range []*ast.Term{r.Head.Key, r.Head.Value} {
			if t != nil {
				c.walkTerm(s, t)
			}
		}
		if rego.IsRule(ruleName(r)) {
			c.members(s, r)
		}
	}
}

func (c *checker) walkBody(s *scope, body ast.Body) {
	for _, e := range body {
		c.walkExpr(s, e)
	}
}

func (c *checker) walkExpr(s *scope, e *ast.Expr) {
	if len(e.With) > 0 {
		return // what input is there, nobody knows
	}
	switch t := e.Terms.(type) {
	case *ast.Term:
		if b, ok := t.Value.(ast.Boolean); ok && bool(b) == e.Negated && c.pass == reporting {
			c.report(s, e.Location, Error, "never", "this is never true", "remove the rule or correct the condition")
		}
		c.always(s, e, t)
		c.walkTerm(s, t)
	case []*ast.Term:
		c.always(s, e, ast.NewTerm(ast.Call(t)))
		c.walkCall(s, e, t)
	case *ast.SomeDecl:
		for _, symbol := range t.Symbols {
			if member, ok := symbol.Value.(ast.Call); ok {
				coll := member[len(member)-1]
				c.walkTerm(s, coll)
				c.iterated(s, e, coll)
			}
		}
	case *ast.Every:
		c.walkTerm(s, t.Domain)
		c.everyOf(s, e, t.Domain)
		c.emptyEvery(s, e, t.Domain)
		in := s.child()
		in.bind(t.Value, binding{term: t.Domain, in: s, element: true})
		c.looked(in, t.Value)
		if t.Key != nil {
			in.open(t.Key)
			c.looked(in, t.Key)
		}
		in.read(t.Body)
		c.walkBody(in, t.Body)
	}
}

func (c *checker) walkTerm(s *scope, t *ast.Term) {
	each := func(e *ast.Term) { c.walkTerm(s, e) }
	inner := func(body ast.Body, terms ...*ast.Term) {
		in := s.child()
		in.read(body)
		c.walkBody(in, body)
		for _, e := range terms {
			c.walkTerm(in, e)
		}
	}
	c.looked(s, t)
	switch v := t.Value.(type) {
	case ast.Ref:
		c.walkRef(s, t, v)
	case *ast.Array:
		v.Foreach(each)
	case ast.Set:
		v.Foreach(each)
	case ast.Object:
		v.Foreach(func(k, e *ast.Term) { each(k); each(e) })
	case *ast.ArrayComprehension:
		inner(v.Body, v.Term)
	case *ast.SetComprehension:
		inner(v.Body, v.Term)
	case *ast.ObjectComprehension:
		inner(v.Body, v.Key, v.Value)
	case ast.Call:
		c.walkCall(s, nil, v)
	case *ast.TemplateString:
		for _, part := range v.Parts {
			switch p := part.(type) {
			case *ast.Term:
				each(p)
			case *ast.Expr:
				c.walkExpr(s, p)
			}
		}
	}
}

var factsRef = ast.Ref{ast.InputRootDocument, ast.StringTerm("facts")}

// walkRef checks the fields of a reference.
func (c *checker) walkRef(s *scope, t *ast.Term, ref ast.Ref) {
	for _, e := range ref {
		if _, constant := e.Value.(ast.String); !constant {
			c.walkTerm(s, e)
		}
	}
	if c.pass != reporting {
		return
	}
	if at := s.unit.resolve(ref); len(at) > 2 && at.HasPrefix(factsRef) {
		if fact, ok := at[2].Value.(ast.String); ok {
			c.noFacts(s, t.Location, string(fact))
		}
	}
	c.follow(s, ref, func(i int, ref ast.Ref, before, after value) bool {
		name, constant := ref[i].Value.(ast.String)
		if !constant {
			c.leakingArray(s, nil, &ast.Term{Value: ref[:i], Location: t.Location}, before)
			return true
		}
		c.rowless(s, t.Location, ref[:i], string(name), before)
		return c.field(s, t.Location, ref[:i], string(name), before, after)
	})
}

// walkCall checks a call, as an expression of its own if e is not nil.
func (c *checker) walkCall(s *scope, e *ast.Expr, t []*ast.Term) {
	c.missingNegated(s, e, t)
	if u, name := c.function(s, t[0]); u != nil {
		c.calledFunction(s, u, name, t[1:])
	} else {
		c.builtin(s, e, t)
	}
	if e != nil {
		// A misspelt field must not be judged by what it is compared with.
		defer func(before any) { c.skip = before }(c.skip)
		c.skip = e
	}
	for _, a := range t[1:] {
		c.walkTerm(s, a)
	}
}

func (c *checker) builtin(s *scope, e *ast.Expr, t []*ast.Term) {
	op := t[0].String()
	if c.pass == reading {
		c.looksAfter(s, op, t[1:])
		return
	}
	c.rawText(s, op, t)
	switch {
	case op == "object.get" && len(t) == 4:
		v := c.eval(s, t[1])
		at := ast.Ref{t[1]}
		for _, key := range keysOf(t[2]) {
			next := v.field(key)
			if !c.field(s, t[2].Location, at, key, v, next) {
				break
			}
			v, at = next, at.Append(ast.StringTerm(key))
		}
	case slices.Contains([]string{"eq", "equal", "neq"}, op) && len(t) == 3:
		c.compare(s, e, op == "neq", t[1], t[2])
	case op == "internal.member_2" && len(t) == 3:
		c.member(s, e, t[1], t[2])
	case slices.Contains([]string{"lt", "lte", "gt", "gte"}, op) && len(t) == 3:
		c.ordered(s, e, t[1], t[2])
	case strings.HasPrefix(op, "net.cidr_") && c.address(s, t):
	case op == "sprintf" && len(t) == 3:
		c.sprintf(s, t[1], t[2])
		c.nullArguments(s, e, t)
	case strings.HasPrefix(op, "regex.") && len(t) > 2:
		c.pattern(s, t[patternOf(op)])
		c.nullArguments(s, e, t)
	case op == "startswith" && len(t) == 3:
		c.begins(s, t[1], t[2])
		c.nullArguments(s, e, t)
	default:
		c.nullArguments(s, e, t)
	}
}
