package facts

import (
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// param adds the value of a parameter expansion.
func (x *expander) param(p *syntax.ParamExp, quoted bool) {
	values, list := x.value(p)
	switch {
	case p.Length:
		values, list = []field{length(values, list)}, false
	case p.Exp != nil:
		values = x.operate(p, values, quoted)
	case p.Repl != nil:
		values = each(values, x.replacement(p.Repl))
	case p.Slice != nil:
		values = x.slice(p, values, list)
	case p.Names != 0, p.Flags != nil, len(p.Modifiers) > 0, p.NestedParam != nil, p.IsSet, p.Width:
		values = []field{holeField(&hole{why: "an expansion gate does not follow", empty: true, many: true})}
	}
	all := p.Param != nil && (p.Param.Value == "@" || indexAll(p) == "@")
	if list && quoted && !all { // "$*" is one word
		values = []field{join(values)}
	}
	x.values(values, quoted, list)
}

// value looks a parameter up, with its index.
func (x *expander) value(p *syntax.ParamExp) (values []field, list bool) {
	if p.Param == nil {
		return []field{holeField(&hole{why: "an expansion gate does not follow", empty: true, many: true})}, false
	}
	name := p.Param.Value
	if p.Excl && p.Names == 0 {
		f, _ := x.scalar(name)
		v := f.value()
		if v == nil {
			return []field{holeField(&hole{why: "an indirect variable", empty: true})}, false
		}
		name = *v
	}
	switch name {
	case "@", "*":
		if !x.state.args {
			return []field{holeField(&hole{why: "the arguments", empty: true, many: true})}, true
		}
		return x.state.params, true
	case "#":
		if x.state.args {
			return []field{literalField(strconv.Itoa(len(x.state.params)))}, false
		}
	}
	v, ok := x.state.vars[name]
	if ok && v.array {
		switch index := indexAll(p); {
		case index == "@" || index == "*":
			return v.list, true
		default:
			i, known := 0, true
			if p.Index != nil {
				i, known = x.integer(p.Index)
			}
			if known && i < 0 {
				i += len(v.list)
			}
			if known && i >= 0 && i < len(v.list) {
				return []field{v.list[i]}, false
			}
			return []field{holeField(&hole{why: "an element of an array", empty: true})}, false
		}
	}
	f, _ := x.scalar(name)
	return []field{f}, false
}

// indexAll returns "@" or "*" for ${a[@]} and ${a[*]}.
func indexAll(p *syntax.ParamExp) string {
	w, ok := p.Index.(*syntax.Word)
	if !ok {
		return ""
	}
	return w.Lit()
}
