package policycheck

import (
	"fmt"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/hook"
	"gate/internal/load"
	"gate/internal/spelling"
)

// A markUse is what the policies of a source do with marks, or what one of them does.
type markUse struct {
	set, read map[string]place // by the mark's name
	anySet    bool             // names that are only known when a policy runs are set
	anyRead   bool             // or read
}

// A place is where in a file something stands.
type place struct {
	file string
	at   *ast.Location
}

// marks reports marks that are read and that nobody sets, and those that nobody reads.
func (c *checker) marks() {
	own := markUse{set: map[string]place{}, read: map[string]place{}}
	for _, u := range c.units {
		own.look(u)
	}
	var above markUse
	if len(own.read) > 0 { // others are asked about what is read here, and about nothing else
		above = c.setAbove()
	}
	policies := 0
	for _, u := range c.units {
		if slices.ContainsFunc(load.Rules(), func(rule string) bool { return u.rules[rule] != nil }) {
			policies++
		}
	}
	severity := Error
	if !c.place && policies < 2 {
		severity = Warning // the others of its place may set it
	}
	for _, name := range slices.Sorted(maps.Keys(own.read)) {
		_, sets := own.set[name]
		_, setAbove := above.set[name]
		if sets || setAbove || own.anySet || above.anySet {
			continue
		}
		hint := didYouMean(spelling.Nearest(name, slices.Concat(slices.Collect(maps.Keys(own.set)), slices.Collect(maps.Keys(above.set)))))
		if hint == "" {
			hint = "a remember rule of this source, or of a managed one, has to set it"
		}
		c.aboutMark(own.read[name], severity, fmt.Sprintf("nobody sets the mark %q", name), hint)
	}
	if own.anyRead || c.src.Scope == hook.Policy { // whose marks others read
		return
	}
	for _, name := range slices.Sorted(maps.Keys(own.set)) {
		if _, reads := own.read[name]; !reads {
			c.aboutMark(own.set[name], Warning, fmt.Sprintf("nobody reads the mark %q", name), "remove it, or read input.session.marks in a policy of this source")
		}
	}
}

func (c *checker) aboutMark(p place, severity Severity, message, hint string) {
	c.add(Finding{File: p.file, Line: p.at.Row, Column: p.at.Col, Severity: severity, Rule: "mark", Message: message, Hint: hint})
}

// setAbove are the marks that sources in Policy scope set, which everybody sees.
func (c *checker) setAbove() markUse {
	all := markUse{set: map[string]place{}, read: map[string]place{}}
	for _, src := range c.others {
		if src.Scope != hook.Policy {
			continue
		}
		for _, m := range src.Modules {
			parsed, err := ast.ParseModuleWithOpts(m.File, m.Text, ast.ParserOptions{RegoVersion: ast.RegoV1})
			if err != nil {
				all.anySet = true
				continue
			}
			all.look(newUnit(m, parsed, false))
		}
	}
	return all
}

// look adds what a package does with marks.
func (m *markUse) look(u *unit) {
	for _, r := range u.rules["remember"] {
		if r.Head.Key != nil {
			m.sets(u, r)
		}
	}
	for _, r := range u.module.Rules {
		m.reads(u, r)
	}
}

// sets adds what a remember rule sets.
func (m *markUse) sets(u *unit, r *ast.Rule) {
	member := r.Head.Key
	if v, ok := member.Value.(ast.Var); ok {
		for _, e := range r.Body {
			if (e.IsAssignment() || e.IsEquality()) && len(e.Operands()) == 2 && e.Operand(0).Value.Compare(v) == 0 {
				member = e.Operand(1)
			}
		}
	}
	if o, ok := member.Value.(ast.Object); ok {
		member = o.Get(ast.StringTerm("mark"))
		if member == nil {
			return // which is reported at load
		}
	}
	if name, ok := member.Value.(ast.String); ok {
		m.set[string(name)] = place{u.file, r.Head.Location}
		return
	}
	m.anySet = true
}

// reads adds which marks a rule reads.
func (m *markUse) reads(u *unit, r *ast.Rule) {
	known := map[*ast.Term]bool{} // input.session.marks as what object.get looks a name up in
	get := func(terms []*ast.Term) {
		if len(terms) < 4 || !terms[0].Equal(ast.RefTerm(ast.VarTerm("object"), ast.StringTerm("get"))) {
			return
		}
		ref, ok := terms[1].Value.(ast.Ref)
		if !ok {
			return
		}
		path := u.resolve(ref)
		switch key := terms[2].Value.(type) {
		case ast.String:
			path = path.Append(terms[2])
		case *ast.Array:
			key.Foreach(func(t *ast.Term) { path = path.Append(t) })
		}
		if m.note(u, path, terms[1].Location) {
			known[terms[1]] = true
		}
	}
	var visit *ast.GenericVisitor
	visit = ast.NewGenericVisitor(func(x any) bool {
		e, isExpr := x.(*ast.Expr)
		if isExpr {
			if terms, ok := e.Terms.([]*ast.Term); ok {
				get(terms)
			}
		}
		t, isTerm := x.(*ast.Term)
		if !isTerm {
			return false
		}
		switch v := t.Value.(type) {
		case ast.Call:
			get(v)
		case ast.Ref:
			if !known[t] {
				m.note(u, u.resolve(v), t.Location)
			}
			for _, part := range v[1:] {
				visit.Walk(part)
			}
			return true
		case ast.Var:
			m.anyRead = m.anyRead || v.Equal(ast.InputRootDocument.Value)
		}
		return false
	})
	visit.Walk(r)
}

// marksRef is where policies read marks.
var marksRef = ast.Ref{ast.InputRootDocument, ast.StringTerm("session"), ast.StringTerm("marks")}

// note adds a reference into the marks, and reports whether it is one.
func (m *markUse) note(u *unit, ref ast.Ref, at *ast.Location) bool {
	marks := marksRef
	switch {
	case ref.HasPrefix(marks) && len(ref) > len(marks):
		name, ok := ref[len(marks)].Value.(ast.String)
		if _, before := m.read[string(name)]; ok && !before {
			m.read[string(name)] = place{u.file, at}
		}
		m.anyRead = m.anyRead || !ok
		return ok
	case ref.HasPrefix(marks), marks.HasPrefix(ref):
		m.anyRead = true
	}
	return false
}
