package facts

import (
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/glob"
)

// changeCase changes the characters that match pat, all or the first.
func changeCase(s, pat string, op syntax.ParExpOperator) string {
	first := op == syntax.UpperFirst || op == syntax.LowerFirst
	change := unicode.ToUpper
	if op == syntax.LowerFirst || op == syntax.LowerAll {
		change = unicode.ToLower
	}
	out := []rune(s)
	for i, r := range out {
		if (i == 0 || !first) && (pat == "?" || glob.Match(pat, string(r))) {
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
		if prefix && glob.Match(pat, s[:cut]) {
			return s[cut:]
		}
		if !prefix && glob.Match(pat, s[cut:]) {
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
			if (anchor != '%' || j == len(s)) && glob.Match(pat, s[i:j]) {
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
