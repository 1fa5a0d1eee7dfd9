package facts

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func length(values []field, list bool) field {
	if list {
		return literalField(strconv.Itoa(len(values)))
	}
	if v := values[0].value(); v != nil {
		return literalField(strconv.Itoa(len([]rune(*v))))
	}
	return holeField(&hole{why: "a length"})
}

// operate applies ${v:-word} and its kin.
func (x *expander) operate(p *syntax.ParamExp, values []field, quoted bool) []field {
	op, word := p.Exp.Op, p.Exp.Word
	switch op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		d := x.word(x.state, word)
		if len(values) == 0 {
			return []field{d}
		}
		return []field{x.orDefault(p, values[0], d, op)}
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		d := x.word(x.state, word)
		if len(values) > 0 && values[0].literal() {
			if _, set := x.scalar(p.Param.Value); set && (!values[0].empty() || op == syntax.AlternateUnset) {
				return []field{d}
			}
			return []field{literalField("")}
		}
		return []field{either(d, literalField(""))}
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		x.word(x.state, word)
		return each(values, notEmpty)
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		pat, _ := x.word(x.state, word).pattern()
		return each(values, func(f field) field { return mapText(f, func(s string) string { return trimPattern(s, pat, op) }) })
	case syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		if word != nil && len(word.Parts) > 0 {
			x.word(x.state, word)
			return each(values, unfollowed)
		}
		return each(values, func(f field) field { return mapText(f, func(s string) string { return changeCase(s, op) }) })
	case syntax.OtherParamOps:
		v := x.word(x.state, word).text()
		return each(values, func(f field) field {
			switch v {
			case "U", "u", "L":
				ops := map[string]syntax.ParExpOperator{"U": syntax.UpperAll, "u": syntax.UpperFirst, "L": syntax.LowerAll}
				return mapText(f, func(s string) string { return changeCase(s, ops[v]) })
			case "E":
				return mapText(f, ansiC)
			}
			return unfollowed(f)
		})
	}
	if word != nil {
		x.word(x.state, word)
	}
	return each(values, unfollowed)
}

// orDefault is v, or d when v is unset (or empty, by the operator).
func (x *expander) orDefault(p *syntax.ParamExp, v, d field, op syntax.ParExpOperator) field {
	_, set := x.scalar(p.Param.Value)
	orNull := op == syntax.DefaultUnsetOrNull || op == syntax.AssignUnsetOrNull
	var out field
	switch {
	case v.literal() && set && (!orNull || !v.empty()):
		return v
	case v.literal():
		out = d
	default:
		// Not known in this line: it may well be unset, so the default counts.
		if val := d.value(); val != nil {
			out = holeField(&hole{why: v.why(), alts: []string{*val}, taint: v.taint()})
		} else {
			out = holeField(&hole{why: v.why(), taint: v.taint().merge(d.taint())})
		}
	}
	if op == syntax.AssignUnset || op == syntax.AssignUnsetOrNull {
		x.state.set(p.Param.Value, out)
	}
	return out
}

func each(values []field, f func(field) field) []field {
	out := make([]field, len(values))
	for i, v := range values {
		out[i] = f(v)
	}
	return out
}

func unfollowed(f field) field {
	return holeField(&hole{why: "an expansion gate does not follow", empty: true, taint: f.taint()})
}

func notEmpty(f field) field {
	out := field{span: f.span}
	for _, p := range f.parts {
		if p.hole != nil {
			h := *p.hole
			h.empty = false
			p.hole = &h
		}
		out.parts = append(out.parts, p)
	}
	return out
}

// mapText changes text that is known, whichever of its variants it is.
func mapText(f field, change func(string) string) field {
	alts, ok := f.variants()
	if !ok {
		return unfollowed(f)
	}
	for i := range alts {
		alts[i] = change(alts[i])
	}
	if len(alts) == 1 {
		return field{parts: []part{{text: alts[0]}}}
	}
	return holeField(&hole{why: f.why(), alts: alts, taint: f.taint()})
}

func changeCase(s string, op syntax.ParExpOperator) string {
	first := op == syntax.UpperFirst || op == syntax.LowerFirst
	change := strings.ToUpper
	if op == syntax.LowerFirst || op == syntax.LowerAll {
		change = strings.ToLower
	}
	if first && s != "" {
		return change(s[:1]) + s[1:]
	}
	return change(s)
}

// trimPattern removes a matching prefix or suffix.
func trimPattern(s, pat string, op syntax.ParExpOperator) string {
	prefix := op == syntax.RemSmallPrefix || op == syntax.RemLargePrefix
	small := op == syntax.RemSmallPrefix || op == syntax.RemSmallSuffix
	for n := range len(s) + 1 {
		cut := n
		if small != prefix {
			cut = len(s) - n
		}
		if prefix && globMatch(pat, s[:cut]) {
			return s[cut:]
		}
		if !prefix && globMatch(pat, s[cut:]) {
			return s[:cut]
		}
	}
	return s
}

// replacement returns the function for ${v/old/new}.
func (x *expander) replacement(r *syntax.Replace) func(field) field {
	pat, glob := x.word(x.state, r.Orig).pattern()
	orig := x.word(x.state, r.Orig)
	with := x.word(x.state, r.With)
	return func(f field) field {
		if glob || !orig.literal() || !with.literal() || strings.HasPrefix(pat, "#") || strings.HasPrefix(pat, "%") {
			return unfollowed(f)
		}
		n := 1
		if r.All {
			n = -1
		}
		return mapText(f, func(s string) string {
			if orig.text() == "" {
				return s
			}
			return strings.Replace(s, orig.text(), with.text(), n)
		})
	}
}

// slice applies ${v:from:count}.
func (x *expander) slice(p *syntax.ParamExp, values []field, list bool) []field {
	from, ok := x.integer(p.Slice.Offset)
	count, okCount := -1, true
	if p.Slice.Length != nil {
		count, okCount = x.integer(p.Slice.Length)
	}
	if !ok || !okCount || p.Slice.Length != nil && count < 0 {
		return each(values, unfollowed)
	}
	if list {
		if p.Param.Value == "@" || p.Param.Value == "*" {
			from--
		}
		lo, hi := window(len(values), from, count)
		return values[lo:hi]
	}
	return each(values, func(f field) field {
		return mapText(f, func(s string) string {
			r := []rune(s)
			lo, hi := window(len(r), from, count)
			return string(r[lo:hi])
		})
	})
}

func window(n, from, count int) (lo, hi int) {
	if from < 0 {
		from += n
	}
	lo = min(max(from, 0), n)
	if count < 0 {
		return lo, n
	}
	return lo, min(lo+count, n)
}

// integer evaluates a literal arithmetic expression.
func (x *expander) integer(e syntax.ArithmExpr) (int, bool) {
	v := x.arithmetic(x.state, e).value()
	if v == nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(*v))
	return n, err == nil
}
