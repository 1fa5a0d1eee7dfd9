package shell

import (
	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/bash"
	"gate/facts/internal/flow"
)

func (x *expander) length(values []flow.Word, list bool) flow.Word {
	if list {
		if flow.Countable(values) {
			return numberField(len(values))
		}
		return flow.Unknown(&flow.Hole{Why: "a length"})
	}
	if values[0].Literal() && flow.Countable(values) {
		return x.counted(values[0])
	}
	return flow.Unknown(&flow.Hole{Why: "a length"})
}

// operate applies ${v:-word} and its kin.
func (x *expander) operate(p *syntax.ParamExp, values []flow.Word, list, quoted bool) ([]flow.Word, bool) {
	op, word := p.Exp.Op, p.Exp.Word
	switch op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return x.orElse(p, values, list, quoted)
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return x.instead(p, values, list, quoted)
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		x.word(x.state, word)
		return flow.Each(values, flow.NotEmpty), list
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		return flow.Each(values, x.trimmer(word, op)), list
	case syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		return flow.Each(values, x.recaser(word, op)), list
	case syntax.OtherParamOps:
		v := x.word(x.state, word).Text()
		return flow.Each(values, func(f flow.Word) flow.Word { return x.transform(f, v) }), list
	}
	if word != nil {
		x.word(x.state, word)
	}
	return flow.Each(values, flow.Unfollowed), list
}

// orElse is ${v:-word} and its kin.
func (x *expander) orElse(p *syntax.ParamExp, values []flow.Word, list, quoted bool) ([]flow.Word, bool) {
	d := x.alternative(p.Exp.Word, quoted)
	switch {
	case list && len(values) > 0:
		return values, true
	case len(values) == 0:
		return d, true
	case len(d) != 1:
		if f := values[0]; f.Literal() && !f.Empty() {
			return values, false
		} else if _, set := x.scalar(p.Param.Value); f.Literal() && !set {
			return d, true
		}
		d = []flow.Word{flow.Join(d)}
	}
	return []flow.Word{x.orDefault(p, values[0], d[0], p.Exp.Op)}, false
}

// instead is ${v:+word}.
func (x *expander) instead(p *syntax.ParamExp, values []flow.Word, list, quoted bool) ([]flow.Word, bool) {
	d := x.alternative(p.Exp.Word, quoted)
	if list {
		if len(values) > 0 {
			return d, true
		}
		return nil, true
	}
	if len(values) > 0 && values[0].Literal() {
		if _, set := x.scalar(p.Param.Value); set && (!values[0].Empty() || p.Exp.Op == syntax.AlternateUnset) {
			return d, true
		}
		return []flow.Word{flow.Literal("")}, false
	}
	return []flow.Word{flow.Either(flow.Join(d), flow.Literal(""))}, false
}

// transform applies ${v@P} and its kin.
func (x *expander) transform(f flow.Word, letter string) flow.Word {
	switch letter {
	case "U", "u", "L":
		return x.recased(f, "", letter != "L", letter == "u")
	case "E":
		return flow.Map(f, bash.Unescape)
	case "P": // as a prompt: substitutions in it run
		x.expandedAgain(x.state, f)
	}
	return flow.Unfollowed(f)
}

// alternative expands the word of ${v:-word}: what is quoted in it is not
// split, and "$@" in it is as many words as there are.
func (x *expander) alternative(word *syntax.Word, quoted bool) []flow.Word {
	if word == nil {
		return []flow.Word{flow.Literal("")}
	}
	sub := expander{Shell: x.Shell, state: x.state, inside: quoted}
	sub.parts(word.Parts, quoted)
	out := sub.finish()
	if len(out) == 0 && !quoted {
		out = []flow.Word{flow.Literal("")}
	}
	for _, f := range out {
		for i := range f.Parts {
			f.Parts[i].Kept = f.Parts[i].Quoted && !quoted
		}
	}
	return out
}

// orDefault is v, or d when v is unset (or empty, by the operator).
func (x *expander) orDefault(p *syntax.ParamExp, v, d flow.Word, op syntax.ParExpOperator) flow.Word {
	_, set := x.scalar(p.Param.Value)
	orNull := op == syntax.DefaultUnsetOrNull || op == syntax.AssignUnsetOrNull
	var out flow.Word
	switch {
	case v.Literal() && set && (!orNull || !v.Empty()):
		return v
	case v.Literal():
		out = d
	case set && !orNull:
		return v
	default:
		if alts, ok := v.Variants(); ok {
			for _, a := range alts {
				if a != "" || !orNull {
					out = choose(out, flow.Literal(a))
				}
			}
			out = choose(out, d)
			break
		}
		if !v.Unset() { // it is set to something: the default is only one guess
			h := &flow.Hole{Why: v.Why(), Empty: d.MayVanish() || d.Empty(), Many: v.Many(), Taint: v.Taint().Merge(d.Taint())}
			h.Guess, _ = d.Variants()
			out = flow.Unknown(h)
			break
		}
		// It may well be unset, so the default counts.
		if val := d.Value(); val != nil && v.Taint() == (flow.Taint{}) {
			out = d
		} else if val != nil {
			out = flow.Unknown(&flow.Hole{Why: v.Why(), Alts: []string{*val}, Taint: v.Taint()})
		} else {
			out = flow.Unknown(&flow.Hole{Why: v.Why(), Taint: v.Taint().Merge(d.Taint())})
		}
	}
	if op == syntax.AssignUnset || op == syntax.AssignUnsetOrNull {
		x.state.set(p.Param.Value, out)
	}
	return out
}

// choose is a or b; a may be nothing yet.
func choose(a, b flow.Word) flow.Word {
	if len(a.Parts) == 0 {
		return b
	}
	return flow.Either(a, b)
}
