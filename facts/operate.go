package facts

import (
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

func length(values []field, list bool) field {
	if list {
		if countable(values) {
			return numberField(len(values))
		}
		return holeField(&hole{why: "a length"})
	}
	if v := values[0].value(); v != nil && countable(values) {
		return numberField(len([]rune(*v)))
	}
	return holeField(&hole{why: "a length"})
}

// operate applies ${v:-word} and its kin.
func (x *expander) operate(p *syntax.ParamExp, values []field, list, quoted bool) ([]field, bool) {
	op, word := p.Exp.Op, p.Exp.Word
	switch op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		d := x.alternative(word, quoted)
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
		return []field{x.orDefault(p, values[0], d[0], op)}, false
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		d := x.alternative(word, quoted)
		if list {
			if len(values) > 0 {
				return d, true
			}
			return nil, true
		}
		if len(values) > 0 && values[0].literal() {
			if _, set := x.scalar(p.Param.Value); set && (!values[0].empty() || op == syntax.AlternateUnset) {
				return d, true
			}
			return []field{literalField("")}, false
		}
		return []field{either(join(d), literalField(""))}, false
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		x.word(x.state, word)
		return each(values, notEmpty), list
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		f := x.word(x.state, word)
		if !f.literal() {
			return each(values, unfollowed), list
		}
		pat, wild := f.pattern()
		return each(values, func(f field) field {
			if n := f.size(); wild && !x.affords(n*n) {
				return unfollowed(f)
			}
			return mapText(f, func(s string) string { return trimPattern(s, pat, op) })
		}), list
	case syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		pat := "?"
		if word != nil && len(word.Parts) > 0 {
			f := x.word(x.state, word)
			if !f.literal() {
				return each(values, unfollowed), list
			}
			pat, _ = f.pattern()
		}
		return each(values, func(f field) field { return mapText(f, func(s string) string { return changeCase(s, pat, op) }) }), list
	case syntax.OtherParamOps:
		v := x.word(x.state, word).text()
		return each(values, func(f field) field { return x.transform(f, v) }), list
	}
	if word != nil {
		x.word(x.state, word)
	}
	return each(values, unfollowed), list
}

// transform applies ${v@P} and its kin.
func (x *expander) transform(f field, letter string) field {
	switch letter {
	case "U":
		return mapText(f, func(s string) string { return changeCase(s, "?", syntax.UpperAll) })
	case "u":
		return mapText(f, func(s string) string { return changeCase(s, "?", syntax.UpperFirst) })
	case "L":
		return mapText(f, func(s string) string { return changeCase(s, "?", syntax.LowerAll) })
	case "E":
		return mapText(f, ansiC)
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

// changeCase changes the characters that match pat, all or the first.
func changeCase(s, pat string, op syntax.ParExpOperator) string {
	first := op == syntax.UpperFirst || op == syntax.LowerFirst
	change := unicode.ToUpper
	if op == syntax.LowerFirst || op == syntax.LowerAll {
		change = unicode.ToLower
	}
	out := []rune(s)
	for i, r := range out {
		if (i == 0 || !first) && (pat == "?" || globMatch(pat, string(r))) {
			out[i] = change(r)
		}
	}
	return string(out)
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
	orig := x.word(x.state, r.Orig)
	with := x.word(x.state, r.With)
	anchor := byte(0)
	if p := orig.prefix(); p != "" && (p[0] == '#' || p[0] == '%') && !r.All && len(orig.parts) > 0 && !orig.parts[0].quoted {
		anchor, orig = p[0], orig.from(1)
	}
	pat, glob := orig.pattern()
	return func(f field) field {
		if !orig.literal() || !with.literal() || strings.Contains(with.text(), "&") {
			return unfollowed(f)
		}
		old, text := orig.text(), with.text()
		n, wide := f.size(), len(pat)
		if strings.Contains(pat, "*") {
			wide = n
		}
		if glob && !x.affords(n*wide*wide) || (n+1)*len(text) > maxText && strings.Count(f.text(), old)*len(text) > maxText {
			return unfollowed(f)
		}
		return mapText(f, func(s string) string {
			switch {
			case old == "" && anchor == '#':
				return text + s
			case old == "" && anchor == '%':
				return s + text
			case old == "":
				return s
			case glob || anchor != 0:
				return replacePattern(s, pat, text, anchor, r.All)
			case r.All:
				return strings.ReplaceAll(s, old, text)
			}
			return strings.Replace(s, old, text, 1)
		})
	}
}

// replacePattern replaces the longest match at each place, or at the first.
func replacePattern(s, pat, with string, anchor byte, all bool) string {
	var b strings.Builder
	for i := 0; i <= len(s); i++ {
		end, most := -1, len(s)
		if !strings.Contains(pat, "*") {
			most = min(most, i+len(pat)) // every other character of a pattern stands for one
		}
		for j := most; j >= i && (j > i || i == len(s)); j-- {
			if (anchor != '%' || j == len(s)) && globMatch(pat, s[i:j]) {
				end = j
				break
			}
		}
		switch {
		case end > i:
			b.WriteString(with)
			if !all {
				return b.String() + s[end:]
			}
			i = end - 1
		case anchor == '#':
			return s
		case i < len(s):
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// slice applies ${v:from:count}.
func (x *expander) slice(p *syntax.ParamExp, values []field, list bool) []field {
	from, ok := 0, true
	if p.Slice.Offset != nil {
		from, ok = x.integer(p.Slice.Offset)
	}
	count, okCount := -1, true
	if p.Slice.Length != nil {
		count, okCount = x.integer(p.Slice.Length)
	}
	if !ok || !okCount || p.Slice.Length != nil && count < 0 && list {
		return each(values, unfollowed)
	}
	if v, ok := x.state.lookup(p.Param.Value); list && ok && v.keys != nil {
		return x.sparse(v, from, count, p.Slice.Length == nil)
	}
	if list {
		if !countable(values) || from == 0 && (p.Param.Value == "@" || p.Param.Value == "*") {
			return []field{holeField(&hole{why: "some of many", empty: true, many: true, taint: join(values).taint()})}
		}
		if from > 0 && (p.Param.Value == "@" || p.Param.Value == "*") {
			from--
		}
		if p.Slice.Length == nil {
			count = len(values)
		}
		lo, hi := window(len(values), from, count)
		return values[lo:hi]
	}
	return each(values, func(f field) field {
		return mapText(f, func(s string) string {
			r := []rune(s)
			n := count
			if p.Slice.Length == nil {
				n = len(r)
			}
			lo, hi := window(len(r), from, n)
			return string(r[lo:hi])
		})
	})
}

// sparse is ${A[@]:from:count} of an array with gaps: from is a key.
func (x *expander) sparse(v variable, from, count int, rest bool) []field {
	if v.words || !countable(v.list) {
		return []field{holeField(&hole{why: "some of many", empty: true, many: true, taint: join(v.list).taint()})}
	}
	if n := len(v.keys); from < 0 && n > 0 {
		from += toInt(v.keys[n-1]) + 1
	}
	var out []field
	for i, key := range v.keys {
		if toInt(key) >= from && (rest || len(out) < count) {
			out = append(out, v.list[i])
		}
	}
	return out
}

// window is where from and count lie in n things; a negative count leaves out
// so many at the end.
func window(n, from, count int) (lo, hi int) {
	if from < 0 {
		from += n
		if from < 0 {
			return 0, 0
		}
	}
	lo = min(from, n)
	if count < 0 {
		return lo, max(lo, n+count)
	}
	return lo, lo + min(count, n-lo)
}

// integer evaluates a literal arithmetic expression.
func (x *expander) integer(e syntax.ArithmExpr) (int, bool) {
	return x.arithmetic(x.state, e).number()
}
