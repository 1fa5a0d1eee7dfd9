package strictjson

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine makes one visible line of a text.
func OneLine(s string) string { return Visible(strings.Join(strings.Fields(s), " ")) }

// Quoted shows a word that somebody else chose: visible, and not too long.
func Quoted(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return `"` + Visible(s) + `"`
}

// unprintable reports, beyond ASCII, what nobody sees or what changes how its
// neighbours are seen: controls, zero-width and bidirectional marks, tags,
// blank letters, and the separators that JavaScript or a terminal takes for
// line ends.
func unprintable(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case r <= 0x9F, r == 0x2028, r == 0x2029,
		r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, // Hangul fillers
		0x180B <= r && r <= 0x180F, 0xE0000 <= r && r <= 0xE0FFF:
		return true
	}
	return unicode.Is(unicode.Cf, r)
}

// Visible returns s with every character that nobody would see, or that could
// steer a terminal, written as an escape: \x1b, \u202e. Line feeds and tabs
// stay, and invalid UTF-8 becomes U+FFFD. Use it for text that people or
// agents read; decoding what [Append] wrote brings the character back.
func Visible(s string) string {
	if !strings.ContainsFunc(s, hidden) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func hidden(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r == 0x7F || unprintable(r)
}
