package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/bash"
	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
)

// declare runs export, declare, local, readonly, typeset and nameref.
func (w *Shell) declare(s *state, c *syntax.DeclClause) flow.Stream {
	d := declaration{Shell: w, s: s, variant: c.Variant.Value}
	before := s
	if d.strayed() {
		d.s = s.clone()
	}
	printed := len(c.Args) == 0
	var runs []draft.Setting
	for _, a := range c.Args {
		if a.Naked && a.Name == nil {
			f := w.word(d.s, a.Value)
			printed = printed || strings.HasPrefix(f.Text(), "-p") || len(c.Args) == 1 && strings.HasPrefix(f.Text(), "-") && strings.ContainsAny(f.Text(), "xp")
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
			runs = append(runs, draft.Setting{Name: a.Name.Value, Value: f})
		}
	}
	if d.s != before {
		s.become(before.clone(), d.s)
	}
	id := w.Append(hook.ShellCommand{Program: new(c.Variant.Value), Span: w.spanOf(c)}, s.Where)
	for _, r := range runs {
		w.sets(id, r.Name, r.Value)
	}
	if printed && c.Variant.Value != "local" {
		w.Effect(id, &hook.SecretRead{What: "environment", Shown: true, Grade: "config"})
		return flow.Stream{Some: true, From: id, Taint: flow.Taint{Secret: "environment"}}
	}
	return flow.Stream{}
}

// A declaration is one export, declare, local or readonly while its words are
// read.
type declaration struct {
	*Shell
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
func (d *declaration) word(f flow.Word) []draft.Setting {
	text := f.Text()
	if f.Literal() && len(text) > 1 && (text[0] == '-' || text[0] == '+') {
		if text[0] == '-' {
			d.letters += text[1:]
		}
		return nil
	}
	d.evaluated(d.s, f)
	name, value, ok := f.Cut("=")
	if !ok {
		if v := f.Value(); v != nil && syntax.ValidName(*v) {
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
		value = flow.Append(d.s.vars[d.s.target(name)].first(), value)
	}
	d.s.setNamed(name, value)
	d.refer(name, value)
	return []draft.Setting{{Name: name, Value: value}}
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
		f, set := (&expander{Shell: d.Shell, state: d.s}).scalar(name)
		v = variable{value: f, unset: !set && f.Literal()}
	}
	takes := d.variant == "export" && d.has("n")
	v.exported = !takes && (v.exported || d.variant == "export" || d.has("x") || d.s.exports)
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
func (d *declaration) refer(name string, f flow.Word) {
	if d.variant == "export" || d.variant == "readonly" || !d.has("n") {
		return
	}
	v := variable{value: flow.Unknown(&flow.Hole{Why: "a reference", Empty: true, Many: true})}
	if to := f.Value(); to != nil && syntax.ValidName(*to) && *to != name {
		v = variable{ref: *to}
	}
	d.evaluatedLater(d.s, f)
	d.s.own()
	d.s.vars[name] = v
}
