package shell

import (
	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/flow"
)

// slice applies ${v:from:count}.
func (x *expander) slice(p *syntax.ParamExp, values []flow.Word, list bool) []flow.Word {
	from, ok := 0, true
	if p.Slice.Offset != nil {
		from, ok = x.integer(p.Slice.Offset)
	}
	count, okCount := -1, true
	if p.Slice.Length != nil {
		count, okCount = x.integer(p.Slice.Length)
	}
	if !ok || !okCount || p.Slice.Length != nil && count < 0 && list {
		return flow.Each(values, flow.Unfollowed)
	}
	if v, ok := x.state.lookup(p.Param.Value); list && ok && v.keys != nil {
		return x.sparse(v, from, count, p.Slice.Length == nil)
	}
	if list {
		if !flow.Countable(values) || from == 0 && (p.Param.Value == "@" || p.Param.Value == "*") {
			return []flow.Word{flow.Unknown(&flow.Hole{Why: "some of many", Empty: true, Many: true, Taint: flow.Join(values).Taint()})}
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
	return flow.Each(values, func(f flow.Word) flow.Word { return x.cut(f, from, count, p.Slice.Length == nil) })
}

// sparse is ${A[@]:from:count} of an array with gaps: from is a key.
func (x *expander) sparse(v variable, from, count int, rest bool) []flow.Word {
	if v.words || !flow.Countable(v.list) {
		return []flow.Word{flow.Unknown(&flow.Hole{Why: "some of many", Empty: true, Many: true, Taint: flow.Join(v.list).Taint()})}
	}
	if n := len(v.keys); from < 0 && n > 0 {
		from += toInt(v.keys[n-1]) + 1
	}
	var out []flow.Word
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
	return x.arithmetic(x.state, e).Number()
}
