package shell

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/flow"
	"gate/facts/internal/glob"
)

// operand expands the word of an operator that takes a pattern.
func (x *expander) operand(word *syntax.Word) flow.Word {
	return x.oneField(expander{Shell: x.Shell, state: x.state, groups: true}, word)
}

// trimmer cuts what a pattern matches off a value: ${v#word}, ${v%word}.
func (x *expander) trimmer(word *syntax.Word, op syntax.ParExpOperator) func(flow.Word) flow.Word {
	f := x.operand(word)
	end := op == syntax.RemSmallSuffix || op == syntax.RemLargeSuffix
	if !f.Literal() {
		return flow.Unfollowed
	}
	pat, wild := f.Pattern()
	switch text := f.Text(); {
	case wild:
	case end:
		return func(f flow.Word) flow.Word {
			return flow.Map(f, func(s string) string { return strings.TrimSuffix(s, text) })
		}
	default:
		return func(f flow.Word) flow.Word {
			return flow.Map(f, func(s string) string { return strings.TrimPrefix(s, text) })
		}
	}
	longest := op == syntax.RemLargePrefix || op == syntax.RemLargeSuffix
	return func(f flow.Word) flow.Word {
		return x.matched(f, pat, len(pat), func(p *glob.Pattern, s string) (string, bool) { return p.Trim(s, end, longest) })
	}
}

// recaser changes the case of what a pattern matches: ${v^word}, ${v,,}.
func (x *expander) recaser(word *syntax.Word, op syntax.ParExpOperator) func(flow.Word) flow.Word {
	pat := ""
	if word != nil && len(word.Parts) > 0 {
		f := x.operand(word)
		if !f.Literal() {
			return flow.Unfollowed
		}
		pat, _ = f.Pattern()
	}
	upper, first := op == syntax.UpperFirst || op == syntax.UpperAll, op == syntax.UpperFirst || op == syntax.LowerFirst
	return func(f flow.Word) flow.Word { return x.recased(f, pat, upper, first) }
}

func (x *expander) recased(f flow.Word, pat string, upper, first bool) flow.Word {
	return x.matched(f, pat, len(pat), func(p *glob.Pattern, s string) (string, bool) { return p.Recase(s, upper, first) })
}

// replacement returns the function for ${v/old/new}.
func (x *expander) replacement(r *syntax.Replace) func(flow.Word) flow.Word {
	orig := x.operand(r.Orig)
	with := x.word(x.state, r.With)
	anchor := byte(0)
	if p := orig.Prefix(); p != "" && (p[0] == '#' || p[0] == '%') && !r.All && len(orig.Parts) > 0 && !orig.Parts[0].Quoted {
		anchor, orig = p[0], orig.From(1)
	}
	pat, wild := orig.Pattern()
	return func(f flow.Word) flow.Word {
		if !orig.Literal() || !with.Literal() || strings.Contains(with.Text(), "&") {
			return flow.Unfollowed(f)
		}
		old, text := orig.Text(), with.Text()
		n := f.Size()
		if (n+1)*len(text) > maxText && strings.Count(f.Text(), old)*len(text) > maxText {
			return flow.Unfollowed(f)
		}
		if !wild && anchor == 0 {
			times := 1
			if r.All {
				times = -1
			}
			if old == "" {
				times = 0
			}
			return flow.Map(f, func(s string) string { return strings.Replace(s, old, text, times) })
		}
		return x.matched(f, pat, n*len(pat), func(p *glob.Pattern, s string) (string, bool) { return p.Replace(s, text, anchor, r.All) })
	}
}

// matched changes text by a pattern, in each way that a shell may read it: groups
// are on or off, and a character is a code point or a byte. So many steps a
// character it takes.
func (x *expander) matched(f flow.Word, pat string, steps int, change func(p *glob.Pattern, s string) (string, bool)) flow.Word {
	if !x.affords(f.Size() * steps) {
		return flow.Unfollowed(f)
	}
	groups := []bool{false}
	if strings.Contains(pat, "(") {
		groups = append(groups, true)
	}
	return x.read(f, pat, func(locale glob.Locale, s string) ([]string, bool) {
		var out []string
		for _, extended := range groups {
			changed, known := change(glob.Compile(pat, glob.Syntax{Extended: extended, Locale: locale}), s)
			if !known {
				return nil, false
			}
			out = append(out, changed)
		}
		return out, true
	})
}

// read changes text as each locale has it that the shell may be in, where the text
// or what is done to it is not ASCII.
func (x *expander) read(f flow.Word, by string, change func(locale glob.Locale, s string) ([]string, bool)) flow.Word {
	alts, ok := f.Variants()
	if !ok {
		return flow.Unfollowed(f)
	}
	var out []string
	for _, s := range alts {
		locales := []glob.Locale{glob.Points}
		if !ascii(s) || !ascii(by) {
			locales = x.locales()
		}
		for _, locale := range locales {
			changed, known := change(locale, s)
			if !known {
				return flow.Unfollowed(f)
			}
			for _, c := range changed {
				if !slices.Contains(out, c) {
					out = append(out, c)
				}
			}
		}
	}
	switch {
	case len(out) == 1:
		return flow.Word{Parts: []flow.Part{{Text: out[0]}}}
	case len(out) > flow.MaxVariants:
		return flow.Unfollowed(f)
	}
	why := f.Why()
	if why == "" {
		why = "characters of a locale that is not known"
	}
	return flow.Unknown(&flow.Hole{Why: why, Alts: out, Taint: f.Taint()})
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// locales are those that the shell may be in. LC_ALL on the line is certain. Of the
// environment nothing is: the shell's start-up files change it, and a locale that
// is not installed is as good as C.
func (x *expander) locales() []glob.Locale {
	if v, ok := x.state.lookup("LC_ALL"); ok && !v.unset {
		switch value := v.first().Value(); {
		case value == nil:
		case *value == "C" || *value == "POSIX":
			return []glob.Locale{glob.Bytes}
		case strings.EqualFold(strings.ReplaceAll(*value, "-", ""), "C.UTF8"):
			return []glob.Locale{glob.Points}
		}
	}
	return []glob.Locale{glob.Language, glob.Bytes}
}

// counted is ${#v}.
func (x *expander) counted(f flow.Word) flow.Word {
	return x.read(f, "", func(locale glob.Locale, s string) ([]string, bool) {
		if locale == glob.Bytes {
			return []string{strconv.Itoa(len(s))}, true
		}
		return []string{strconv.Itoa(utf8.RuneCountInString(s))}, true
	})
}

// cut is ${v:from:count}, count being -1 for the rest.
func (x *expander) cut(f flow.Word, from, count int, rest bool) flow.Word {
	return x.read(f, "", func(locale glob.Locale, s string) ([]string, bool) {
		ends := []int{0} // of the characters
		for i := 0; i < len(s); {
			size := 1
			if locale != glob.Bytes {
				_, size = utf8.DecodeRuneInString(s[i:])
			}
			i += size
			ends = append(ends, i)
		}
		n := count
		if rest {
			n = len(ends) - 1
		}
		lo, hi := window(len(ends)-1, from, n)
		return []string{s[ends[lo]:ends[hi]]}, true
	})
}
