package facts

import "mvdan.cc/sh/v3/syntax"

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
	return each(values, func(f field) field { return x.cut(f, from, count, p.Slice.Length == nil) })
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
