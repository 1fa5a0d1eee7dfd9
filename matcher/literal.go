package matcher

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// Literals returns texts of which every value that m matches [Holds] one, so that
// most values can be passed over without compiling the pattern. It is nil where
// nothing of the kind is known.
func (m *Matcher) Literals() []string {
	var list []string
	for _, it := range m.items {
		text := ""
		switch it := it.(type) {
		case exactName:
			text = string(it)
		case prefix:
			text = string(it)
		case substring:
			text = string(it)
		case linear:
			if re, err := syntax.Parse(it.re.String(), syntax.Perl); err == nil {
				text = literalOf(re.Simplify())
			}
		}
		if text == "" {
			return nil
		}
		list = append(list, text)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Holds reports whether a literal stands in a value or an alias of it.
func Holds(value, literal string) bool {
	return strings.Contains(value, literal) || strings.Contains(alias(value), literal)
}

// literalOf returns the longest text that stands in whatever an expression
// matches, "" if none must.
func literalOf(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return literalOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literalOf(re.Sub[0])
		}
	case syntax.OpConcat:
		longest := ""
		for _, sub := range re.Sub {
			if text := literalOf(sub); len(text) > len(longest) {
				longest = text
			}
		}
		return longest
	}
	return ""
}
