package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/bash"
	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/secret"
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
	values := d.values(c.Args)
	for i, a := range c.Args {
		if a.Naked && a.Name == nil {
			f := values[i]
			printed = printed || strings.HasPrefix(f.Text(), "-p") || len(c.Args) == 1 && strings.HasPrefix(f.Text(), "-") && strings.ContainsAny(f.Text(), "xp")
			runs = append(runs, d.word(f)...)
			continue
		}
		if a.Array == nil {
			d.prepare(a.Name.Value)
		}
		if a.Value != nil && !a.Naked {
			f := w.assignTo(d.s, a, values[i])
			d.refer(a.Name.Value, f)
			runs = append(runs, draft.Setting{Name: a.Name.Value, Value: f})
		}
		d.hold(a.Name.Value)
	}
	if d.s != before {
		s.become(before.clone(), d.s)
	}
	id := w.Append(hook.ShellCommand{Program: new(c.Variant.Value), Known: true, Span: w.spanOf(c)}, s.Where)
	for _, r := range runs {
		w.sets(id, r.Name, r.Value)
	}
	if named, t := printedNames(c.Args); printed && named {
		if t.Secret != "" {
			w.Effect(id, &hook.SecretRead{What: t.Secret, Shown: true, Grade: "config"})
		}
		return flow.Stream{Some: true, From: id, Taint: t}
	}
	if printed && c.Variant.Value != "local" {
		w.Effect(id, &hook.SecretRead{What: "environment", Shown: true, Grade: "config"})
		return flow.Stream{Some: true, From: id, Taint: flow.Taint{Secret: "environment"}}
	}
	return flow.Stream{}
}

// printedNames are the variables that a declaration names without a value: declare -p PATH
// prints them and no others.
func printedNames(args []*syntax.Assign) (named bool, t flow.Taint) {
	for _, a := range args {
		if a.Naked && a.Name != nil {
			named = true
			if secret.Variable(a.Name.Value) {
				t.Secret = "environment variable " + a.Name.Value
			}
		}
	}
	return named, t
}

// values are the words of a declaration, which all expand before the first of them
// is assigned. Lists in parentheses are assigned while the words expand.
func (d *declaration) values(args []*syntax.Assign) []flow.Word {
	values := make([]flow.Word, len(args))
	for i, a := range args {
		switch {
		case a.Array != nil:
			d.prepare(a.Name.Value)
			d.assign(d.s, a)
		case a.Value == nil:
		case a.Name == nil:
			values[i] = d.Shell.word(d.s, a.Value)
			d.flags(values[i])
		default: // declare X={a,b} is declare X=a X=b
			all := bash.Braces(a.Value)
			values[i] = d.assigned(d.s, &syntax.Word{Parts: all[len(all)-1]})
		}
	}
	return values
}

// hold makes a variable keep its value, as readonly and declare -r do.
func (d *declaration) hold(name string) {
	if d.variant != "readonly" && !d.has("r") || d.variant == "readonly" && d.has("f") {
		return
	}
	d.s.own()
	name = d.s.target(name)
	if v, ok := d.s.vars[name]; ok {
		v.held = surely
		d.s.vars[name] = v
	}
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

// flags reports a word of flags, and notes them.
func (d *declaration) flags(f flow.Word) bool {
	text := f.Text()
	if !f.Literal() || len(text) < 2 || text[0] != '-' && text[0] != '+' {
		return false
	}
	if text[0] == '-' {
		d.letters += text[1:]
	}
	return true
}

// word reads a word that the parser did not take apart: flags, or NAME=value
// where only the expansion shows it.
func (d *declaration) word(f flow.Word) []draft.Setting {
	if d.flags(f) {
		return nil
	}
	d.evaluated(d.s, f)
	name, value, ok := f.Cut("=")
	if !ok {
		if v := f.Value(); v != nil && syntax.ValidName(*v) {
			d.prepare(*v)
			d.hold(*v)
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
	d.hold(base)
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
		if v = d.s.keyed(name); !v.array {
			v = variable{value: f, unset: !set && f.Literal()}
		}
	}
	takes := d.variant == "export" && d.has("n")
	v.exported = !takes && (v.exported || d.variant == "export" || d.has("x") || d.s.exports)
	v.integer = v.integer || d.has("i")
	v.words = v.words || d.has("A")
	v.declared = v.declared || d.has("A") && !strings.HasPrefix(name, "BASH_")
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
