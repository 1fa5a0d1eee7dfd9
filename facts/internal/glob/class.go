package glob

import (
	"unicode"
	"unicode/utf8"
)

// A set is a bracket.
type set struct {
	negated bool
	ranges  [][2]rune
	classes []string
}

// has reports whether a character is in the set.
func (s *set) has(r rune, l Locale) Answer {
	in := No
	for _, x := range s.ranges {
		in = max(in, between(r, x[0], x[1], l))
	}
	for _, name := range s.classes {
		in = max(in, member(name, r, l))
	}
	if s.negated {
		return Yes - in
	}
	return in
}

// between reports a character in a range. Beyond Latin 1 collation decides,
// which is the locale's.
func between(r, lo, hi rune, l Locale) Answer {
	switch {
	case lo == hi && r == lo:
		return Yes
	case lo == hi:
		return No
	case l == Language && max(r, lo, hi) > unicode.MaxLatin1:
		return Unknown
	case lo <= r && r <= hi:
		return Yes
	}
	return No
}

// member reports a character of a class. A class that is none has no member. Of
// characters beyond ASCII systems agree about letters, signs and spaces; marks and
// digits of other scripts are letters here and there.
func member(name string, r rune, l Locale) Answer {
	switch {
	case r < utf8.RuneSelf || l == Bytes:
		return truth(ascii(name, r))
	case name == "digit" || name == "xdigit" || name == "ascii":
		return No
	case r > maxPlane:
		return Unknown
	case unicode.IsLetter(r):
		return letter(name, r)
	case sign(r):
		return truth(name == "punct" || name == "graph" || name == "print")
	case unicode.Is(unicode.Zs, r) && !unbroken(r):
		return truth(name == "space" || name == "blank" || name == "print")
	}
	return Unknown
}

// maxPlane ends the characters that have been the same for long.
const maxPlane = 0xffff

func letter(name string, r rune) Answer {
	switch name {
	case "alpha", "alnum", "word", "graph", "print":
		return Yes
	case "upper", "lower":
		upper, lower := unicode.Is(unicode.Lu, r), unicode.Is(unicode.Ll, r)
		if !upper && !lower && (!unicode.Is(unicode.Lo, r) || r <= unicode.MaxLatin1) {
			return Unknown
		}
		return truth(upper && name == "upper" || lower && name == "lower")
	}
	return No
}

// sign reports punctuation and symbols, less the letters in circles.
func sign(r rune) bool {
	return (unicode.IsPunct(r) || unicode.IsSymbol(r)) && unicode.ToUpper(r) == unicode.ToLower(r)
}

// unbroken reports a space that no line is broken at.
func unbroken(r rune) bool { return r == 0xa0 || r == 0x2007 || r == 0x202f }

// caseless reports a character beyond ASCII that has no case on any system.
func caseless(r rune) bool {
	return r <= maxPlane && (sign(r) || unicode.Is(unicode.Zs, r) || r > unicode.MaxLatin1 && unicode.Is(unicode.Lo, r))
}

func truth(yes bool) Answer {
	if yes {
		return Yes
	}
	return No
}

// ascii reports a character of a class in the locale C.
func ascii(name string, r rune) bool {
	upper, lower, digit := 'A' <= r && r <= 'Z', 'a' <= r && r <= 'z', '0' <= r && r <= '9'
	graph := '!' <= r && r <= '~'
	switch name {
	case "alpha":
		return upper || lower
	case "digit":
		return digit
	case "alnum":
		return upper || lower || digit
	case "upper":
		return upper
	case "lower":
		return lower
	case "space":
		return r == ' ' || '\t' <= r && r <= '\r'
	case "blank":
		return r == ' ' || r == '\t'
	case "punct":
		return graph && !upper && !lower && !digit
	case "print":
		return graph || r == ' '
	case "graph":
		return graph
	case "cntrl":
		return r < ' ' || r == 0x7f
	case "xdigit":
		return digit || 'a' <= r && r <= 'f' || 'A' <= r && r <= 'F'
	case "word":
		return upper || lower || digit || r == '_'
	case "ascii":
		return r < utf8.RuneSelf
	}
	return false
}
