package code

import "strings"

// Limits on the functions whose parameters are followed.
const (
	maxCodeFunctions = 200
	maxCodePlaces    = 12 // arguments of one call
)

// A site collects what a function of the text is called with. A text that
// defines functions is read twice: first to see the calls, then with the
// parameters bound to what was seen.
type site struct {
	values  []value  // by place
	given   []int    // calls that gave a value for the place
	names   []string // arguments by name
	named   []value
	calls   int
	escaped bool // handed on as a value: it may be called with anything
}

// twice reports whether another reading would tell more, and prepares for it.
func (r *inspection) twice() bool {
	if r.again || r.defined == 0 || len(r.sites) == 0 {
		return false
	}
	r.again = true
	r.vars, r.opened = map[string]value{}, nil
	r.calls, r.unknown = nil, ""
	r.socket, r.shell, r.dup = -1, false, false
	return true
}

// site notes a call of a function of the text itself.
func (p *parser) site(u *use) {
	if p.again || p.evals > 1 || u.action != "" || u.name == "" {
		return
	}
	name := strings.TrimPrefix(u.name[strings.LastIndexByte(u.name, '.')+1:], definedPrefix)
	s := p.siteOf(name)
	s.calls++
	if u.args.spread || len(u.args.pos) > maxCodePlaces || len(s.names)+len(u.args.names) > 2*maxCodePlaces {
		s.escaped = true
		return
	}
	for i, v := range u.args.pos {
		if i == len(s.values) {
			s.values, s.given = append(s.values, short(v)), append(s.given, 1)
			continue
		}
		s.values[i] = oneOf(s.values[i], short(v))
		s.given[i]++
	}
	for i, n := range u.args.names {
		s.names, s.named = append(s.names, n), append(s.named, short(u.args.named[i]))
	}
}

// short keeps values small that are kept for the second reading.
func short(v value) value {
	if len(v.text) > maxFold || len(v.items) > maxChoice {
		return flagged(v.all())
	}
	return v
}

func (p *parser) siteOf(name string) *site {
	if s, ok := p.sites[name]; ok {
		return s
	}
	s := &site{}
	if len(p.sites) < maxCodeFunctions && len(name) < maxName {
		if p.sites == nil {
			p.sites = map[string]*site{}
		}
		p.sites[name] = s
	}
	return s
}

// definedPrefix begins the names of functions that the text itself defines, so
// that they are not taken for those of the language.
const definedPrefix = "def:"

// defineFunction makes a name one of the text's own functions.
func (p *parser) defineFunction(name string) {
	if name != "" && len(name) < maxName {
		p.vars[name] = named(definedPrefix + name)
	}
}

// A parameter is a parameter of a function with its default, if that is a
// literal.
type parameter struct {
	name  string
	value value
}

// parameters binds the parameters of a function to what it is called with, as
// far as the first reading has seen.
func (p *parser) parameters(function string, all []parameter) {
	if function != "" {
		p.defined++
	}
	if len(all) > 0 && (all[0].name == "self" || all[0].name == "cls") {
		p.forget(all[0].name)
		all = all[1:]
	}
	s := p.sites[function]
	follow := p.again && function != "" && s != nil && s.calls > 0 && !s.escaped
	for i, param := range all {
		p.forget(param.name)
		if follow {
			p.vars[param.name] = s.argument(i, param)
		}
	}
}

// argument is what a parameter gets in all calls together.
func (s *site) argument(i int, param parameter) value {
	var values []value
	given := 0
	if i < len(s.values) {
		values = append(values, s.values[i])
		given = s.given[i]
	}
	for j, name := range s.names {
		if name == param.name {
			values = append(values, s.named[j])
			given++
		}
	}
	if given < s.calls {
		values = append(values, param.value)
	}
	return oneOf(values...)
}

// define reads the parameters of a function; its body is read as statements.
func (p *parser) define(name string) {
	if !p.accept("(") {
		return
	}
	var all []parameter
	for depth := 1; depth > 0 && !p.done(); {
		before := p.toks[p.pos-1]
		t := p.next()
		switch {
		case t.is("("), t.is("["), t.is("{"):
			depth++
		case t.is(")"), t.is("]"), t.is("}"):
			depth--
		case t.kind == wordToken && depth == 1 && len(all) < 32 && p.isParameter(before, t):
			all = append(all, parameter{name: t.text})
		case t.kind == wordToken && depth == 1:
			p.forgetPlain(t.text)
		case (t.kind == textToken || t.kind == numberToken) && before.is("=") && t.parts == nil && depth == 1 && len(all) > 0:
			all[len(all)-1].value = textValue(t.text)
		}
	}
	p.parameters(name, all)
}

// isParameter reports whether a word is a parameter and not the type or the
// default of one.
func (p *parser) isParameter(before, t token) bool {
	if p.lang.syntax.sigils != "" {
		return strings.IndexByte(p.lang.syntax.sigils, t.text[0]) >= 0
	}
	return before.is("(") || before.is(",") || before.is("*") || before.is("**")
}

// forgetPlain makes a name unknown that may be a parameter, or the type of one.
func (p *parser) forgetPlain(name string) {
	if v, ok := p.vars[name]; ok && v.kind != nameValue {
		p.forget(name)
	}
}

// function reads the body of a function with an arrow, or of JavaScript's
// function; its parameters were seen.
func (p *parser) function(params []token) value {
	name := p.naming
	p.naming = ""
	var all []parameter
	for i := range params {
		if params[i].kind == wordToken && (i == 0 || !params[i-1].is(".") && !params[i-1].is("=")) && len(all) < 32 {
			all = append(all, parameter{name: params[i].text})
		}
	}
	p.parameters(name, all)
	if name == "" && len(all) > 0 {
		p.vars[all[0].name] = p.element
	}
	p.skipLines()
	p.block++
	if p.accept("{") {
		p.statements("}")
	} else {
		p.expr()
	}
	p.block--
	if name == "" {
		return named("closure")
	}
	return named(definedPrefix + name)
}
