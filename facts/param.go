package facts

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// param adds the value of a parameter expansion.
func (x *expander) param(p *syntax.ParamExp, quoted bool) {
	values, list := x.value(p)
	switch {
	case p.Length:
		values, list = []field{x.length(values, list)}, false
	case p.Exp != nil:
		values, list = x.operate(p, values, list, quoted)
	case p.Repl != nil:
		values = each(values, x.replacement(p.Repl))
	case p.Slice != nil:
		values = x.slice(p, values, list)
	case p.Flags != nil, len(p.Modifiers) > 0, p.NestedParam != nil, p.IsSet, p.Width:
		values = []field{holeField(&hole{why: "an expansion gate does not follow", empty: true, many: true})}
	}
	star := p.Param != nil && (p.Param.Value == "*" || indexAll(p) == "*") || p.Names == syntax.NamesPrefix
	if list && star && (quoted || !x.split) { // "$*" is one word
		values = []field{x.starred(values)}
	}
	x.values(values, quoted, list)
}

// starred joins values with the first character of IFS.
func (x *expander) starred(values []field) field {
	sep, known := x.separators()
	if !known && len(values) > 1 {
		return holeField(&hole{why: "joined by an unknown IFS", empty: true, taint: join(values).taint()})
	}
	var out field
	for i, f := range values {
		if i > 0 && sep != "" {
			out.parts = append(out.parts, part{text: sep[:1], quoted: true})
		}
		out.parts = append(out.parts, f.parts...)
	}
	return out
}

// value looks a parameter up, with its index.
func (x *expander) value(p *syntax.ParamExp) (values []field, list bool) {
	if p.Param == nil {
		return []field{holeField(&hole{why: "an expansion gate does not follow", empty: true, many: true})}, false
	}
	name, all := p.Param.Value, indexAll(p)
	if p.Excl {
		switch {
		case p.Names != 0:
			// The environment may have more of them than the line sets.
			return []field{holeField(&hole{why: "names of variables", empty: true, many: true})}, true
		case all != "":
			if _, set := x.state.lookup("IFS"); set && !x.split {
				return []field{holeField(&hole{why: "keys of an array", empty: true})}, false
			}
			return x.state.keysOf(name), true
		}
		return x.indirect(p)
	}
	switch name {
	case "@", "*":
		if !x.state.args {
			return []field{holeField(&hole{why: "the arguments", empty: true, many: true})}, true
		}
		return x.state.params, true
	case "#":
		if x.state.args && countable(x.state.params) {
			return []field{numberField(len(x.state.params))}, false
		}
	}
	v, ok := x.state.lookup(name)
	key, known := "0", true
	if all == "" && p.Index != nil {
		key, known = x.key(x.state, v, p.Index) // it runs what is in the subscript
	}
	switch {
	case !ok && shellArray(name):
		return []field{holeField(&hole{why: "$" + name, empty: true, many: true})}, all != ""
	case !ok && p.Index != nil && all == "" && known && key != "0":
		return []field{literalField("")}, false
	case !ok && all != "":
		return []field{holeField(&hole{why: "$" + name + " is not set in this line", empty: true, many: true})}, true
	case !ok, all == "" && p.Index == nil:
		f, _ := x.scalar(name)
		return []field{f}, false
	case all != "":
		return v.all(), true
	case !known:
		return []field{v.any()}, false
	}
	return []field{v.element(key)}, false
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
func (v variable) all() []field {
	switch {
	case v.unset:
		return nil
	case !v.array:
		return []field{v.value}
	case v.words && len(v.list) > 1:
		return []field{holeField(&hole{why: "elements in no known order", many: true, taint: join(v.list).taint()})}
	}
	return v.list
}

// any is an element of an array under a key that is not known.
func (v variable) any() field {
	if len(v.list) == 0 {
		return holeField(&hole{why: "an element of an array", empty: true, many: true})
	}
	out := v.list[0]
	for _, f := range v.list[1:] {
		out = either(out, f)
	}
	return either(out, literalField(""))
}

// indirect is the value of the variable that a variable names.
func (x *expander) indirect(p *syntax.ParamExp) ([]field, bool) {
	name := p.Param.Value
	unknown := []field{holeField(&hole{why: "an indirect variable", empty: true, many: true})}
	if v := x.state.vars[name]; v.ref != "" {
		return []field{literalField(v.ref)}, false // ${!R} of a reference is the name
	}
	f, _ := x.scalar(name)
	if name == "#" {
		if !x.state.args || !countable(x.state.params) {
			return unknown, false
		}
		f = numberField(len(x.state.params))
	}
	to := f.value()
	if to == nil {
		return unknown, false
	}
	base, key, ok := subscript(*to)
	switch v, set := x.state.lookup(base); {
	case ok && (key == "@" || key == "*") && set:
		return v.all(), true
	case ok:
		x.evaluated(x.state, f)
		if n, isNumber := x.expression(x.state, key).number(); isNumber && set && !v.words {
			return []field{v.element(numberField(n).text())}, false
		}
		return unknown, false
	case *to == "@" || *to == "*":
		return unknown, false
	}
	value, _ := x.scalar(*to)
	return []field{value}, false
}

func (s *state) keysOf(name string) []field {
	v, ok := s.lookup(name)
	switch {
	case !ok || v.words && len(v.list) > 1 || !countable(v.all()):
		return []field{holeField(&hole{why: "keys of an array", empty: true, many: true})}
	case v.unset:
		return nil
	case !v.array:
		return []field{literalField("0")}
	}
	var out []field
	for _, k := range v.allKeys() {
		out = append(out, literalField(k))
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
