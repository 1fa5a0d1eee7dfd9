package facts

import (
	"gate/hook"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// declare runs export, declare, local, readonly, typeset and nameref.
func (w *walker) declare(s *state, st *syntax.Stmt, c *syntax.DeclClause) stream {
	printed := len(c.Args) == 0
	for _, a := range c.Args {
		if a.Naked && a.Name == nil {
			f := w.word(s, a.Value)
			printed = printed || strings.HasPrefix(f.text(), "-p")
			if name, value, ok := f.cut("="); ok {
				s.set(name, value)
			}
			w.evaluated(s, f)
			continue
		}
		w.assign(s, a)
	}
	id := w.command(hook.ShellCommand{Program: ptr(c.Variant.Value), Span: w.span(c)}, s)
	for _, a := range c.Args {
		if !a.Naked && a.Name != nil && a.Value != nil {
			w.variableEffect(id, a.Name.Value, s.vars[a.Name.Value].value)
		}
	}
	if printed && c.Variant.Value != "local" {
		w.effect("secret.read", id, map[string]any{"path": nil, "what": "environment", "shown": true, "grade": "config"})
		return stream{some: true, from: id, taint: taint{secret: "environment"}}
	}
	_ = st
	return stream{}
}

// assign performs an assignment in s and returns its value.
func (w *walker) assign(s *state, a *syntax.Assign) field {
	if a.Name == nil {
		return w.word(s, a.Value)
	}
	name := a.Name.Value
	switch {
	case a.Array != nil:
		v := variable{array: true}
		if a.Append {
			v.list = append(v.list, s.vars[name].list...)
		}
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				w.arithmetic(s, e.Index)
			}
			if e.Value != nil {
				v.list = append(v.list, w.fields(s, e.Value)...)
			}
		}
		s.vars[name] = v
		return join(v.list)
	case a.Naked:
		if _, ok := s.vars[name]; !ok && a.Value == nil {
			return field{}
		}
		return s.vars[name].value
	}
	f := w.word(s, a.Value)
	switch {
	case a.Index != nil:
		s.vars[name] = w.setElement(s, name, a.Index, f)
	case a.Append:
		x := expander{walker: w, state: s}
		old, _ := x.scalar(name)
		s.set(name, field{parts: append(append([]part(nil), old.parts...), f.parts...)})
	default:
		s.set(name, f)
	}
	return f
}

// setElement performs a[i]=v for a literal i; else the array is not known.
func (w *walker) setElement(s *state, name string, index syntax.ArithmExpr, f field) variable {
	x := expander{walker: w, state: s}
	v := s.vars[name]
	i, ok := x.integer(index)
	if !ok || i < 0 || i > len(v.list) {
		return variable{value: holeField(&hole{why: "an element of an array", empty: true}), list: nil, array: false}
	}
	list := append([]field(nil), v.list...)
	if i == len(list) {
		list = append(list, f)
	} else {
		list[i] = f
	}
	return variable{array: true, list: list}
}

func ptr[T any](v T) *T { return &v }
