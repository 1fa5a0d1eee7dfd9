package policycheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/internal/rego"
)

// unused reports helper rules that nothing refers to, and parameters that
// nothing reads.
func (c *checker) unused() {
	used := c.references()
	for _, u := range c.units {
		if u.lib {
			continue // for everybody's policies
		}
		for _, name := range slices.Sorted(maps.Keys(u.rules)) {
			r := u.rules[name][0]
			if rego.IsRule(name) || used.reads(u.pkg+"."+name, u.pkg+"."+name) {
				continue
			}
			c.add(Finding{
				File: u.file, Line: r.Location.Row, Column: r.Location.Col, Severity: Warning, Rule: "unused",
				Message: fmt.Sprintf("nothing uses %s", name), Hint: "remove it",
			})
		}
		if u.hook == nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(u.hook.Params)) {
			if used.reads("gate.params."+u.pkg+"."+name, "") {
				continue
			}
			c.add(Finding{
				File: u.file, Line: u.keyLine(name), Severity: Warning, Rule: "unused",
				Message: fmt.Sprintf("nothing reads param %s", name),
				Hint:    fmt.Sprintf("remove it, or read data.gate.params.%s.%s", u.pkg, name),
			})
		}
	}
}

// readings are the documents below data that rules refer to, and by which
// rules.
type readings map[string][]string

// reads reports whether a rule other than self refers to path, to something in
// it or to something that holds it.
func (r readings) reads(path, self string) bool {
	for at, by := range r {
		if at != path && !strings.HasPrefix(at, path+".") && !strings.HasPrefix(path, at+".") {
			continue
		}
		if slices.ContainsFunc(by, func(b string) bool { return b != self }) {
			return true
		}
	}
	return false
}

func (c *checker) references() readings {
	all := readings{}
	for _, u := range c.units {
		for _, r := range u.module.Rules {
			by := u.pkg + "." + ruleName(r)
			note := func(ref ast.Ref) {
				if at := u.document(ref); at != "" && !slices.Contains(all[at], by) {
					all[at] = append(all[at], by)
				}
			}
			head := true
			ast.NewGenericVisitor(func(x any) bool {
				switch x := x.(type) {
				case *ast.Head:
					// The name of a rule is no use of it.
					for _, t := range append([]*ast.Term{x.Key, x.Value}, x.Args...) {
						if t != nil {
							u.visit(t, note)
						}
					}
					return head
				case ast.Ref:
					note(x)
				case ast.Var:
					note(ast.Ref{ast.NewTerm(x)})
				}
				return false
			}).Walk(r)
		}
	}
	return all
}

func (u *unit) visit(t *ast.Term, note func(ast.Ref)) {
	ast.NewGenericVisitor(func(x any) bool {
		switch x := x.(type) {
		case ast.Ref:
			note(x)
		case ast.Var:
			note(ast.Ref{ast.NewTerm(x)})
		}
		return false
	}).Walk(t)
}

// document returns the path below data that a reference reads, "" if it reads
// something else.
func (u *unit) document(ref ast.Ref) string {
	ref = u.resolve(ref)
	name, ok := ref[0].Value.(ast.Var)
	if !ok {
		return ""
	}
	var parts []string
	switch {
	case u.rules[string(name)] != nil:
		return u.pkg + "." + string(name)
	case !ref[0].Equal(ast.DefaultRootDocument):
		return ""
	}
	for _, t := range ref[1:] {
		s, constant := t.Value.(ast.String)
		if !constant {
			break
		}
		parts = append(parts, string(s))
	}
	return strings.Join(parts, ".")
}
