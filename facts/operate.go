package facts

import (
	"mvdan.cc/sh/v3/syntax"

	"gate/facts/bash"
)

func (x *expander) length(values []field, list bool) field {
	if list {
		if countable(values) {
			return numberField(len(values))
		}
		return holeField(&hole{why: "a length"})
	}
	if values[0].literal() && countable(values) {
		return x.counted(values[0])
	}
	return holeField(&hole{why: "a length"})
}

// operate applies ${v:-word} and its kin.
func (x *expander) operate(p *syntax.ParamExp, values []field, list, quoted bool) ([]field, bool) {
	op, word := p.Exp.Op, p.Exp.Word
	switch op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return x.orElse(p, values, list, quoted)
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return x.instead(p, values, list, quoted)
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		x.word(x.state, word)
		return each(values, notEmpty), list
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		return each(values, x.trimmer(word, op)), list
	case syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		return each(values, x.recaser(word, op)), list
	case syntax.OtherParamOps:
		v := x.word(x.state, word).text()
		return each(values, func(f field) field { return x.transform(f, v) }), list
	}
	if word != nil {
		x.word(x.state, word)
	}
	return each(values, unfollowed), list
}

// orElse is ${v:-word} and its kin.
func (x *expander) orElse(p *syntax.ParamExp, values []field, list, quoted bool) ([]field, bool) {
	d := x.alternative(p.Exp.Word, quoted)
	switch {
	case list && len(values) > 0:
		return values, true
	case len(values) == 0:
		return d, true
	case len(d) != 1:
		if f := values[0]; f.literal() && !f.empty() {
			return values, false
		} else if _, set := x.scalar(p.Param.Value); f.literal() && !set {
			return d, true
		}
		d = []field{join(d)}
	}
	return []field{x.orDefault(p, values[0], d[0], p.Exp.Op)}, false
}

// instead is ${v:+word}.
func (x *expander) instead(p *syntax.ParamExp, values []field, list, quoted bool) ([]field, bool) {
	d := x.alternative(p.Exp.Word, quoted)
	if list {
		if len(values) > 0 {
			return d, true
		}
		return nil, true
	}
	if len(values) > 0 && values[0].literal() {
		if _, set := x.scalar(p.Param.Value); set && (!values[0].empty() || p.Exp.Op == syntax.AlternateUnset) {
			return d, true
		}
		return []field{literalField("")}, false
	}
	return []field{either(join(d), literalField(""))}, false
}

// transform applies ${v@P} and its kin.
func (x *expander) transform(f field, letter string) field {
	switch letter {
	case "U", "u", "L":
		return x.recased(f, "", letter != "L", letter == "u")
	case "E":
		return mapText(f, bash.Unescape)
	case "P": // as a prompt: substitutions in it run
		x.expandedAgain(x.state, f)
	}
	return unfollowed(f)
}

// alternative expands the word of ${v:-word}: what is quoted in it is not
// split, and "$@" in it is as many words as there are.
func (x *expander) alternative(word *syntax.Word, quoted bool) []field {
	if word == nil {
		return []field{literalField("")}
	}
	sub := expander{walker: x.walker, state: x.state, inside: quoted}
	sub.parts(word.Parts, quoted)
	out := sub.finish()
	if len(out) == 0 && !quoted {
		out = []field{literalField("")}
	}
	for _, f := range out {
		for i := range f.parts {
			f.parts[i].kept = f.parts[i].quoted && !quoted
		}
	}
	return out
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
	case set && !orNull:
		return v
	default:
		if alts, ok := v.variants(); ok {
			for _, a := range alts {
				if a != "" || !orNull {
					out = choose(out, literalField(a))
				}
			}
			out = choose(out, d)
			break
		}
		if !v.unset() { // it is set to something: the default is only one guess
			h := &hole{why: v.why(), empty: d.mayVanish() || d.empty(), many: v.many(), taint: v.taint().merge(d.taint())}
			h.guess, _ = d.variants()
			out = holeField(h)
			break
		}
		// It may well be unset, so the default counts.
		if val := d.value(); val != nil && v.taint() == (taint{}) {
			out = d
		} else if val != nil {
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

// choose is a or b; a may be nothing yet.
func choose(a, b field) field {
	if len(a.parts) == 0 {
		return b
	}
	return either(a, b)
}

func each(values []field, f func(field) field) []field {
	out := make([]field, len(values))
	for i, v := range values {
		out[i] = f(v)
	}
	return out
}

func unfollowed(f field) field {
	return holeField(&hole{why: "an expansion gate does not follow", empty: true, many: f.many(), taint: f.taint()})
}

// size is the length of the text that is known.
func (f field) size() int {
	n := 0
	for _, p := range f.parts {
		n += len(p.text)
		if p.hole != nil {
			for _, a := range p.hole.alts {
				n += len(a)
			}
		}
	}
	return n
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
