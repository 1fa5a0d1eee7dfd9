package policycheck

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/engine/rego"
	"gate/scopes"
)

// A pass is what a walk over the policies is for.
type pass uint8

const (
	reading   pass = iota // who calls what, and which unknowns are looked after
	reporting             // what is wrong
)

// parse makes the units. Files that do not parse have been reported.
func (c *checker) parse(lib []scopes.Module) {
	c.byName, c.calls = map[string]*unit{}, map[string][]call{}
	c.access, c.memo = map[string][]pair{}, map[string]value{}
	add := func(m scopes.Module, isLib bool) *unit {
		parsed, err := ast.ParseModuleWithOpts(m.File, m.Text, ast.ParserOptions{RegoVersion: ast.RegoV1, ProcessAnnotation: true})
		if err != nil || c.byName[m.Package] != nil {
			return nil
		}
		u := newUnit(m, parsed, isLib)
		u.checker = c
		c.byName[m.Package] = u
		return u
	}
	for _, m := range lib {
		if u := add(m, true); u != nil {
			u.input = c.schema.input(nil)
			if c.src.Library {
				c.units = append(c.units, u)
			}
		}
	}
	for _, m := range c.src.Modules {
		u := add(m, false)
		if u == nil {
			continue
		}
		for _, h := range c.src.Hooks {
			if h.ID == u.pkg {
				u.hook = h
			}
		}
		u.input = c.schema.input(u.hook)
		c.units = append(c.units, u)
	}
	c.findAccess()
}

func newUnit(m scopes.Module, parsed *ast.Module, isLib bool) *unit {
	u := &unit{
		pkg: m.Package, file: m.File, module: parsed, lib: isLib,
		imports: map[ast.Var]ast.Ref{}, rules: map[string][]*ast.Rule{}, handled: map[string]bool{},
	}
	for _, imp := range parsed.Imports {
		if ref, ok := imp.Path.Value.(ast.Ref); ok && !ref.HasPrefix(ast.MustParseRef("rego.v1")) && !ref.HasPrefix(ast.MustParseRef("future.keywords")) {
			u.imports[imp.Name()] = ref
		}
	}
	for _, r := range parsed.Rules {
		u.rules[ruleName(r)] = append(u.rules[ruleName(r)], r)
	}
	return u
}

// all returns the units of the source and the library's helpers.
func (c *checker) all() []*unit {
	list := slices.Clone(c.units)
	for _, u := range c.byName {
		if !slices.Contains(list, u) {
			list = append(list, u)
		}
	}
	return list
}

// fields walks over all rules, first to read and then to report.
func (c *checker) fields() {
	for _, c.pass = range []pass{reading, reporting} {
		for _, u := range c.units {
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
		c.walkTerm(s, t)
	case []*ast.Term:
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
		in := s.child()
		in.bind(t.Value, binding{term: t.Domain, in: s, element: true})
		if t.Key != nil {
			in.open(t.Key)
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
	c.follow(s, ref, func(i int, ref ast.Ref, before, after value) bool {
		name, constant := ref[i].Value.(ast.String)
		if !constant {
			c.leakingArray(s, nil, &ast.Term{Value: ref[:i], Location: t.Location}, before)
			return true
		}
		return c.field(s, t.Location, ref[:i], string(name), before, after)
	})
}

// walkCall checks a call, as an expression of its own if e is not nil.
func (c *checker) walkCall(s *scope, e *ast.Expr, t []*ast.Term) {
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

// calledFunction notes who calls what, and checks the fields that a function is
// to look up.
func (c *checker) calledFunction(s *scope, u *unit, name string, args []*ast.Term) {
	fn := u.pkg + "." + name
	if c.pass == reading {
		c.calls[fn] = append(c.calls[fn], call{s, args})
	}
	for _, p := range c.access[fn] {
		if max(p.thing, p.name) >= len(args) {
			continue
		}
		for _, key := range keysOf(args[p.name]) {
			if c.pass == reading {
				if u.lib {
					s.unit.handled[key] = true
				}
				continue
			}
			v := c.eval(s, args[p.thing])
			c.field(s, args[p.name].Location, ast.Ref{args[p.thing]}, key, v, v.field(key))
			break
		}
	}
}

func (c *checker) builtin(s *scope, e *ast.Expr, t []*ast.Term) {
	op := t[0].String()
	if c.pass == reading {
		c.looksAfter(s, op, t[1:])
		return
	}
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
	default:
		c.nullArguments(s, e, t)
	}
}

// field reports a field that something does not have. It returns false if so.
func (c *checker) field(s *scope, loc *ast.Location, of ast.Ref, name string, before, after value) bool {
	known := before.fieldNames()
	if len(before) == 0 || len(known) == 0 || slices.Contains(known, name) {
		return true
	}
	if len(after) > 0 || !before.closed() {
		if right := slip(name, known); right != "" {
			severity := Warning
			if s.unit.hook != nil && c.schema.describes(s.unit.hook.If) {
				severity = Error
			}
			c.report(s, loc, severity, "field", fmt.Sprintf("%s has no field %q that is known here", shown(of), name), didYouMean(right))
		}
		return true
	}
	what := shown(of)
	if titles := before.titles(); len(titles) > 0 && len(titles) <= 4 {
		what = fmt.Sprintf("%s (%s)", what, strings.Join(titles, ", "))
	}
	hint := didYouMean(nearest(name, known))
	if of.Equal(ast.InputRootRef) {
		if events := c.schema.eventsWith(name); len(events) > 0 {
			hint = "it is there on " + strings.Join(events, ", ")
		}
	}
	if hint == "" {
		hint = "it has " + strings.Join(known, ", ")
	}
	c.report(s, loc, Error, "field", fmt.Sprintf("%s has no field %q", what, name), hint)
	return false
}

// eventsWith returns the events that have a field.
func (sc *schema) eventsWith(field string) []string {
	var names []string
	for name, e := range sc.events {
		if e.fields[field] != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (c *checker) report(s *scope, loc *ast.Location, severity Severity, rule, message, hint string) {
	f := Finding{File: s.unit.file, Severity: severity, Rule: rule, Message: message, Hint: hint}
	if loc != nil {
		f.Line = loc.Row
	}
	c.add(f)
}

// wildcards are the names that the parser gives to "_", and the compiler to
// variables.
var wildcards = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\d+|__local\d+__`) })

// shown writes a term as its author did.
func shown(v fmt.Stringer) string { return wildcards().ReplaceAllString(v.String(), "_") }
