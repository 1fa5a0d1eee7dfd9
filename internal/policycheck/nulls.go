package policycheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"
)

// looksAfter notes which fields a package asks about whether they are known.
func (c *checker) looksAfter(s *scope, op string, args []*ast.Term) {
	handled := s.unit.handled
	switch {
	case strings.HasPrefix(op, "is_"), op == "type_name":
		handled[lastField(s, args[0])] = true
	case op == "object.get" && len(args) == 3:
		for _, key := range keysOf(args[1]) {
			handled[key] = true
		}
	case slices.Contains([]string{"eq", "equal", "neq"}, op) && len(args) == 2:
		for i, a := range args {
			_, isNull := args[1-i].Value.(ast.Null)
			name := lastField(s, a)
			if isNull || strings.HasSuffix(name, "_from") {
				handled[name] = true
			}
		}
	case op == "internal.member_2":
		if _, isNull := args[0].Value.(ast.Null); isNull {
			handled[lastField(s, args[1])] = true
		}
		if name := lastField(s, args[0]); strings.HasSuffix(name, "_from") {
			handled[name] = true
		}
	}
}

// lastField returns the field that a term ends in, "" if none: branches for
// push.branches, push.branches[i], and b of some b in push.branches.
func lastField(s *scope, t *ast.Term) string {
	for range maxDepth {
		switch v := t.Value.(type) {
		case ast.Ref:
			for i := len(v) - 1; i > 0; i-- {
				if name, ok := v[i].Value.(ast.String); ok {
					return string(name)
				}
			}
			return ""
		case ast.Var:
			in, b, found := s.find(v)
			if !found || b.term == nil {
				return ""
			}
			s, t = in, b.term
		default:
			return ""
		}
	}
	return ""
}

// iterated checks a collection that is gone through.
func (c *checker) iterated(s *scope, e *ast.Expr, coll *ast.Term) {
	if c.pass != reporting {
		return
	}
	if a, ok := coll.Value.(*ast.Array); ok && a.Len() == 0 {
		c.report(s, coll.Location, Error, "never", "there is nothing in []", "remove the rule or name its subject")
	}
	c.leakingArray(s, e, coll, c.eval(s, coll))
}

// everyOf checks a list of which every element must be something: one that
// lacks elements holds all the sooner.
func (c *checker) everyOf(s *scope, e *ast.Expr, coll *ast.Term) {
	if c.pass == reporting && ruleName(s.rule) == "allow" && !e.Negated {
		c.lacking(s, coll, c.eval(s, coll), Error, "this rule allows it")
	}
}

// leakingArray reports a list that lacks what is not known.
func (c *checker) leakingArray(s *scope, e *ast.Expr, coll *ast.Term, v value) {
	allows := ruleName(s.rule) == "allow"
	switch negated := e != nil && e.Negated; {
	case c.leaks(s, e) && allows:
		c.lacking(s, coll, v, Error, "this rule allows it")
	case c.leaks(s, e):
		c.lacking(s, coll, v, Error, "this rule says nothing about it")
	case negated && s.unit.decides():
		c.lacking(s, coll, v, Warning, "this holds, as if it were something else")
	}
}

// lacking reports a list of which facts say that it may lack something, unless
// the package looks after that. then says what follows.
func (c *checker) lacking(s *scope, coll *ast.Term, v value, severity Severity, then string) {
	for _, list := range v {
		from := list.unknown
		if list.kinds&array == 0 || !strings.HasSuffix(from, "_from") || s.unit.handled[from] || s.unit.handled[list.name] {
			continue
		}
		thing := "x"
		if ref, ok := coll.Value.(ast.Ref); ok && len(ref) > 1 {
			thing = shown(ref[:len(ref)-1])
		}
		c.report(s, coll.Location, severity, "null",
			fmt.Sprintf("%s lacks unknown values, and then %s", shown(coll), then),
			fmt.Sprintf("add a rule with data.gate.lib.unknown(%s, %q)", thing, list.name))
		return
	}
}

// leaks reports whether something unknown loosens what the rule around an
// expression says.
func (c *checker) leaks(s *scope, e *ast.Expr) bool {
	negated := e != nil && e.Negated
	if slices.Contains([]string{"allow", "modify", "context", "warn", "consult", "remember"}, ruleName(s.rule)) {
		return negated && ruleName(s.rule) == "allow"
	}
	return s.unit.decides() && !negated
}

// nullCompared reports a comparison with a field that is null when it is not
// known: it does not hold then.
func (c *checker) nullCompared(s *scope, e *ast.Expr, t *ast.Term, v, with value) {
	if v.any() || with.any() || with.kinds()&null != 0 || scalar(t) || !c.leaks(s, e) {
		return
	}
	for _, field := range v {
		if field.unknown != "null" || field.kinds&null == 0 || s.unit.handled[field.name] || s.unit.handled[lastField(s, t)] {
			continue
		}
		c.report(s, t.Location, Warning, "null",
			fmt.Sprintf("%s is null when it is not known; this does not hold then, and the rule says nothing", shown(t)),
			askLib(t))
		return
	}
}

// askLib says what to write in the place of a comparison with a field.
func askLib(t *ast.Term) string {
	if ref, ok := t.Value.(ast.Ref); ok && len(ref) > 1 {
		if field, ok := ref[len(ref)-1].Value.(ast.String); ok {
			thing := shown(ref[:len(ref)-1])
			return fmt.Sprintf("write data.gate.lib.could_be(%s, %q, …), or data.gate.lib.is if unknown may pass", thing, string(field))
		}
	}
	return fmt.Sprintf("add a rule with is_null(%s), or is_string(%s) to this one if unknown may pass", shown(t), shown(t))
}

// nullArguments reports builtins that fail when something is not known: a
// builtin that fails takes the whole policy with it.
func (c *checker) nullArguments(s *scope, _ *ast.Expr, t []*ast.Term) {
	op := t[0].String()
	b, ok := ast.BuiltinMap[op]
	if !ok || b.Decl == nil || b.Infix != "" {
		return
	}
	args := b.Decl.NamedFuncArgs().Args
	for i, a := range t[1:] {
		if i >= len(args) || !wantsText(args[i]) {
			continue
		}
		for _, field := range c.eval(s, a) {
			if field.any() || field.kinds&null == 0 || field.kinds&text == 0 || s.unit.handled[field.name] || s.unit.handled[lastField(s, a)] {
				continue
			}
			c.report(s, a.Location, Error, "null",
				fmt.Sprintf("%s can be null, and %s of null is a fault of the whole policy", shown(a), op),
				fmt.Sprintf("put is_string(%s) before it, and decide about null in a rule of its own", shown(a)))
			break
		}
	}
}

func wantsText(t types.Type) bool {
	if named, ok := t.(*types.NamedType); ok {
		t = named.Type
	}
	_, ok := t.(types.String)
	return ok
}
