package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/flow"
)

// param adds the value of a parameter expansion.
func (x *expander) param(p *syntax.ParamExp, quoted bool) {
	values, list := x.value(p)
	switch {
	case p.Length:
		values, list = []flow.Word{x.length(values, list)}, false
	case p.Exp != nil:
		values, list = x.operate(p, values, list, quoted)
	case p.Repl != nil:
		values = flow.Each(values, x.replacement(p.Repl))
	case p.Slice != nil:
		values = x.slice(p, values, list)
	case p.Flags != nil, len(p.Modifiers) > 0, p.NestedParam != nil, p.IsSet, p.Width:
		values = []flow.Word{flow.Unknown(&flow.Hole{Why: "an expansion gate does not follow", Empty: true, Many: true})}
	}
	star := p.Param != nil && (p.Param.Value == "*" || indexAll(p) == "*") || p.Names == syntax.NamesPrefix
	if list && star && (quoted || !x.split) { // "$*" is one word
		values = []flow.Word{x.starred(values)}
	}
	x.values(values, quoted, list)
}

// starred joins values with the first character of IFS.
func (x *expander) starred(values []flow.Word) flow.Word {
	sep, known := x.separators()
	if !known && len(values) > 1 {
		return flow.Unknown(&flow.Hole{Why: "joined by an unknown IFS", Empty: true, Taint: flow.Join(values).Taint()})
	}
	var out flow.Word
	for i, f := range values {
		if i > 0 && sep != "" {
			out.Parts = append(out.Parts, flow.Part{Text: sep[:1], Quoted: true})
		}
		out.Parts = append(out.Parts, f.Parts...)
	}
	return out
}

// value looks a parameter up, with its index.
func (x *expander) value(p *syntax.ParamExp) (values []flow.Word, list bool) {
	if p.Param == nil {
		return []flow.Word{flow.Unknown(&flow.Hole{Why: "an expansion gate does not follow", Empty: true, Many: true})}, false
	}
	name, all := p.Param.Value, indexAll(p)
	if p.Excl {
		switch {
		case p.Names != 0:
			// The environment may have more of them than the line sets.
			return []flow.Word{flow.Unknown(&flow.Hole{Why: "names of variables", Empty: true, Many: true})}, true
		case all != "":
			if _, set := x.state.lookup("IFS"); set && !x.split {
				return []flow.Word{flow.Unknown(&flow.Hole{Why: "keys of an array", Empty: true})}, false
			}
			return x.state.keysOf(name), true
		case p.Index != nil: // it runs what is in the subscript
			v, _ := x.state.lookup(name)
			x.key(x.state, v, p.Index)
			return []flow.Word{flow.Unknown(&flow.Hole{Why: "an indirect variable", Empty: true, Many: true})}, false
		}
		return x.indirect(p)
	}
	switch name {
	case "@", "*":
		if !x.state.args {
			return []flow.Word{flow.Unknown(&flow.Hole{Why: "the arguments", Empty: true, Many: true})}, true
		}
		return x.state.params, true
	case "#":
		if x.state.args && flow.Countable(x.state.params) {
			return []flow.Word{numberField(len(x.state.params))}, false
		}
	}
	v, ok := x.state.lookup(name)
	key, known := "0", true
	if all == "" && p.Index != nil {
		key, known = x.key(x.state, v, p.Index) // it runs what is in the subscript
	}
	switch {
	case !ok && shellArray(name):
		return []flow.Word{flow.Unknown(&flow.Hole{Why: "$" + name, Empty: true, Many: true})}, all != ""
	case !ok && p.Index != nil && all == "" && known && key != "0":
		return []flow.Word{flow.Literal("")}, false
	case !ok && all != "":
		return []flow.Word{flow.Unknown(&flow.Hole{Why: "$" + name + " is not set in this line", Empty: true, Many: true})}, true
	case !ok, all == "" && p.Index == nil:
		f, _ := x.scalar(name)
		return []flow.Word{f}, false
	case all != "":
		return v.all(), true
	case !known:
		return []flow.Word{v.any()}, false
	}
	return []flow.Word{v.element(key)}, false
}

// shellArray reports arrays that the shell itself fills.
func shellArray(name string) bool {
	switch name {
	case "PIPESTATUS", "FUNCNAME", "DIRSTACK", "GROUPS", "COPROC", "MAPFILE", "COMP_WORDS", "COMPREPLY":
		return true
	}
	return strings.HasPrefix(name, "BASH_")
}

// all are the elements of an array; a scalar is its only one.
func (v variable) all() []flow.Word {
	switch {
	case v.unset:
		return nil
	case !v.array:
		return []flow.Word{v.value}
	case v.words && len(v.list) > 1:
		return []flow.Word{flow.Unknown(&flow.Hole{Why: "elements in no known order", Many: true, Taint: flow.Join(v.list).Taint()})}
	}
	return v.list
}

// any is an element of an array under a key that is not known.
func (v variable) any() flow.Word {
	if len(v.list) == 0 {
		return flow.Unknown(&flow.Hole{Why: "an element of an array", Empty: true, Many: true})
	}
	out := v.list[0]
	for _, f := range v.list[1:] {
		out = flow.Either(out, f)
	}
	return flow.Either(out, flow.Literal(""))
}

// indirect is the value of the variable that a variable names.
func (x *expander) indirect(p *syntax.ParamExp) ([]flow.Word, bool) {
	name := p.Param.Value
	unknown := []flow.Word{flow.Unknown(&flow.Hole{Why: "an indirect variable", Empty: true, Many: true})}
	if v := x.state.vars[name]; v.ref != "" {
		return []flow.Word{flow.Literal(v.ref)}, false // ${!R} of a reference is the name
	}
	f, _ := x.scalar(name)
	if name == "#" {
		if !x.state.args || !flow.Countable(x.state.params) {
			return unknown, false
		}
		f = numberField(len(x.state.params))
	}
	to := f.Value()
	if to == nil {
		return unknown, false
	}
	base, key, ok := subscript(*to)
	switch v, set := x.state.lookup(base); {
	case ok && (key == "@" || key == "*") && set:
		return v.all(), true
	case ok:
		x.evaluated(x.state, f)
		if n, isNumber := x.expression(x.state, key).Number(); isNumber && set && !v.words {
			return []flow.Word{v.element(numberField(n).Text())}, false
		}
		return unknown, false
	case *to == "@" || *to == "*":
		return unknown, false
	}
	value, _ := x.scalar(*to)
	return []flow.Word{value}, false
}

func (s *state) keysOf(name string) []flow.Word {
	v, ok := s.lookup(name)
	switch {
	case !ok || v.words && len(v.list) > 1 || !flow.Countable(v.all()):
		return []flow.Word{flow.Unknown(&flow.Hole{Why: "keys of an array", Empty: true, Many: true})}
	case v.unset:
		return nil
	case !v.array:
		return []flow.Word{flow.Literal("0")}
	}
	var out []flow.Word
	for _, k := range v.allKeys() {
		out = append(out, flow.Literal(k))
	}
	return out
}

// indexAll returns "@" or "*" for ${a[@]} and ${a[*]}.
func indexAll(p *syntax.ParamExp) string {
	if w, ok := p.Index.(*syntax.Word); ok {
		if lit := w.Lit(); lit == "@" || lit == "*" {
			return lit
		}
	}
	return ""
}
