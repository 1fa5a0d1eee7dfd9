package facts

import (
	"strconv"
	"strings"

	"gate/facts/bash"
	"gate/hook"

	"mvdan.cc/sh/v3/syntax"
)

// declare runs export, declare, local, readonly, typeset and nameref.
func (w *walker) declare(s *state, c *syntax.DeclClause) stream {
	d := declaration{walker: w, s: s, variant: c.Variant.Value}
	before := s
	if d.strayed() {
		d.s = s.clone()
	}
	printed := len(c.Args) == 0
	var runs []setting
	for _, a := range c.Args {
		if a.Naked && a.Name == nil {
			f := w.word(d.s, a.Value)
			printed = printed || strings.HasPrefix(f.text(), "-p") || len(c.Args) == 1 && strings.HasPrefix(f.text(), "-") && strings.ContainsAny(f.text(), "xp")
			runs = append(runs, d.word(f)...)
			continue
		}
		d.prepare(a.Name.Value)
		if a.Value != nil { // declare X={a,b} is declare X=a X=b
			all := bash.Braces(a.Value)
			one := *a
			one.Value = &syntax.Word{Parts: all[len(all)-1]}
			a = &one
		}
		if f := w.assign(d.s, a); !a.Naked && a.Value != nil {
			d.refer(a.Name.Value, f)
			runs = append(runs, setting{a.Name.Value, f})
		}
	}
	if d.s != before {
		s.become(before.clone(), d.s)
	}
	id := w.command(hook.ShellCommand{Program: ptr(c.Variant.Value), Span: w.span(c)}, s)
	for _, r := range runs {
		w.variableEffect(id, r.name, r.value)
	}
	if printed && c.Variant.Value != "local" {
		w.effect("secret.read", id, map[string]any{"path": nil, "what": "environment", "shown": true, "grade": "config"})
		return stream{some: true, from: id, taint: taint{secret: "environment"}}
	}
	return stream{}
}

// A declaration is one export, declare, local or readonly while its words are
// read.
type declaration struct {
	*walker
	s       *state
	variant string
	letters string // flags seen
}

// strayed reports a local outside a function: bash refuses it, but what runs
// the line may be inside one.
func (d *declaration) strayed() bool { return d.variant == "local" && d.s.locals == nil }

func (d *declaration) has(flag string) bool { return strings.Contains(d.letters, flag) }

// word reads a word that the parser did not take apart: flags, or NAME=value
// where only the expansion shows it.
func (d *declaration) word(f field) []setting {
	text := f.text()
	if f.literal() && len(text) > 1 && (text[0] == '-' || text[0] == '+') {
		if text[0] == '-' {
			d.letters += text[1:]
		}
		return nil
	}
	d.evaluated(d.s, f)
	name, value, ok := f.cut("=")
	if !ok {
		if v := f.value(); v != nil && syntax.ValidName(*v) {
			d.prepare(*v)
		}
		return nil
	}
	name, add := strings.CutSuffix(name, "+")
	base, _, element := subscript(name)
	if !element {
		base = name
	}
	d.prepare(base)
	if add {
		value = appended(d.s.vars[d.s.target(name)].first(), value)
	}
	d.s.setNamed(name, value)
	d.refer(name, value)
	return []setting{{name, value}}
}

// prepare gives a variable the attributes of the declaration, and hides it
// from the caller of the function.
func (d *declaration) prepare(name string) {
	if d.variant == "export" && d.has("f") {
		return
	}
	d.s.own()
	if d.variant != "export" && d.variant != "readonly" && !d.has("g") {
		d.s.hide(name)
	}
	v, ok := d.s.vars[name]
	if !ok {
		f, set := (&expander{walker: d.walker, state: d.s}).scalar(name)
		v = variable{value: f, unset: !set && f.literal()}
	}
	v.exported = v.exported || d.variant == "export" && !d.has("n") || d.variant != "export" && d.has("x") || d.s.exports
	v.integer = v.integer || d.has("i")
	v.words = v.words || d.has("A")
	switch {
	case d.has("l"):
		v.fold = 'l'
	case d.has("u"):
		v.fold = 'u'
	}
	d.s.vars[name] = v
}

// refer makes a name stand for the variable that its value names.
func (d *declaration) refer(name string, f field) {
	if d.variant == "export" || d.variant == "readonly" || !d.has("n") {
		return
	}
	v := variable{value: holeField(&hole{why: "a reference", empty: true, many: true})}
	if to := f.value(); to != nil && syntax.ValidName(*to) && *to != name {
		v = variable{ref: *to}
	}
	d.evaluatedLater(d.s, f)
	d.s.own()
	d.s.vars[name] = v
}

// hide keeps what a name means outside the running function.
func (s *state) hide(name string) {
	if s.locals == nil {
		return
	}
	if _, ok := s.locals[name]; ok {
		return
	}
	var kept *variable
	exported := false
	if v, ok := s.vars[name]; ok {
		kept, exported = &v, v.exported
	}
	s.locals[name] = kept
	s.vars[name] = variable{value: literalField(""), unset: true, exported: exported}
}

// restore undoes what a function hid.
func (s *state) restore(outer map[string]*variable) {
	s.own()
	for name, v := range s.locals {
		if v == nil {
			delete(s.vars, name)
			continue
		}
		s.vars[name] = *v
	}
	s.locals = outer
}

func appended(old, f field) field {
	return field{parts: append(append([]part(nil), old.parts...), f.parts...)}
}

// assign performs an assignment in s and returns its value.
func (w *walker) assign(s *state, a *syntax.Assign) field {
	if a.Name == nil {
		return w.word(s, a.Value)
	}
	name := a.Name.Value
	switch {
	case a.Array != nil:
		v := w.array(s, a)
		s.replace(name, v)
		return join(v.list)
	case a.Naked:
		if _, ok := s.vars[name]; !ok && a.Value == nil {
			return field{}
		}
		return s.vars[name].first()
	}
	f := w.assigned(s, a.Value)
	if s.vars[s.target(name)].integer {
		w.evaluatedLater(s, f)
	}
	switch {
	case a.Index != nil:
		w.setElement(s, name, a, f)
	case a.Append:
		x := expander{walker: w, state: s}
		old, set := x.scalar(name)
		if !set && old.literal() {
			old = literalField("")
		}
		f = w.bounded(appended(old, f))
		s.set(name, f)
	default:
		s.set(name, f)
	}
	return f
}

// array reads the elements of NAME=(…).
func (w *walker) array(s *state, a *syntax.Assign) variable {
	old := s.vars[s.target(a.Name.Value)]
	v := variable{array: true, words: old.words}
	if v.words {
		v.keys = []string{}
	}
	if a.Append {
		switch {
		case old.array:
			v.list, v.keys = append(v.list, old.list...), append(v.keys, old.keys...)
		case len(old.value.parts) > 0 && !old.unset:
			v.list = append(v.list, old.value)
		}
	}
	bare := true
	for _, e := range a.Array.Elems {
		bare = bare && e.Index == nil
	}
	if v.words && bare { // declare -A M=(key value …)
		return w.pairs(s, v, a.Array.Elems)
	}
	for _, e := range a.Array.Elems {
		if len(v.list) > maxWords {
			w.limit("more elements of an array than gate follows")
			return unknownArray()
		}
		switch {
		case e.Index != nil:
			key, ok := w.key(s, v, e.Index)
			f := w.word(s, e.Value)
			if !ok {
				return unknownArray()
			}
			v = v.with(key, f)
		case e.Value != nil:
			more := w.fields(s, e.Value)
			if v.keys == nil {
				v.list = append(v.list[:len(v.list):len(v.list)], more...)
				continue
			}
			for _, f := range more {
				v = v.next(f)
			}
		}
	}
	if len(v.list) > maxWords {
		w.limit("more elements of an array than gate follows")
		return unknownArray()
	}
	return v
}

func (w *walker) pairs(s *state, v variable, elems []*syntax.ArrayElem) variable {
	var words []field
	for _, e := range elems {
		words = append(words, w.fields(s, e.Value)...)
	}
	for i := 0; i < len(words); i += 2 {
		key, f := words[i].value(), literalField("")
		if i+1 < len(words) {
			f = words[i+1]
		}
		if key == nil {
			return unknownArray()
		}
		v = v.with(*key, f)
	}
	return v
}

// next is the array with one more element after its last.
func (v variable) next(f field) variable {
	if len(v.keys) == 0 {
		if v.keys != nil {
			return v.with("0", f)
		}
		v.list = append(v.list[:len(v.list):len(v.list)], f)
		return v
	}
	return v.with(strconv.Itoa(toInt(v.keys[len(v.keys)-1])+1), f)
}

// key evaluates a subscript: a word where keys are words, else arithmetic.
func (w *walker) key(s *state, v variable, index syntax.ArithmExpr) (string, bool) {
	if word, ok := index.(*syntax.Word); ok && v.words {
		key := w.word(s, word).value()
		if key == nil {
			return "", false
		}
		return *key, true
	}
	x := expander{walker: w, state: s}
	i, ok := x.integer(index)
	if ok && i < 0 && v.keys == nil {
		i += len(v.list)
	}
	return strconv.Itoa(i), ok && i >= 0
}

// setElement performs a[i]=v for a literal i; else the array is not known.
func (w *walker) setElement(s *state, name string, a *syntax.Assign, f field) {
	v := s.vars[s.target(name)]
	key, ok := w.key(s, v, a.Index)
	switch {
	case !ok:
		s.replace(name, unknownArray())
	case a.Append:
		s.replace(name, v.with(key, appended(v.element(key), f)))
	default:
		s.replace(name, v.with(key, v.shaped(f)))
	}
}

func ptr[T any](v T) *T { return &v }
