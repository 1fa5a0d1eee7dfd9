package bash

import (
	"strconv"
	"strings"
)

// Unescape resolves the escapes of $'…'.
func Unescape(s string) string { return resolve(s, escapes{}) }

// An escapes says how backslashes differ from those of $'…'.
type escapes struct {
	zero    bool // \0 takes three more digits: echo -e, %b
	noOctal bool // \1 means itself: echo -e
	stop    bool // \c ends all output
	quotes  bool // a backslash before a quote stays: echo -e, %b
}

// UnescapeEcho resolves those of echo -e, zsh's echo and a format of printf.
func UnescapeEcho(s string) string {
	return resolve(s, escapes{zero: true, noOctal: true, stop: true, quotes: true})
}

// UnescapeArgument resolves those of what printf puts in the place of %b.
func UnescapeArgument(s string) string {
	return resolve(s, escapes{zero: true, stop: true, quotes: true})
}

func resolve(s string, e escapes) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'a', 'b', 'e', 'E', 'f', 'n', 'r', 't', 'v':
			b.WriteByte(Control(c))
		case 'x':
			i += number(&b, s[i+1:], 16, 2, false)
		case 'u':
			i += number(&b, s[i+1:], 16, 4, true)
		case 'U':
			i += number(&b, s[i+1:], 16, 8, true)
		case '0', '1', '2', '3', '4', '5', '6', '7':
			switch {
			case e.zero && c == '0':
				i += number(&b, "0"+s[i+1:], 8, 4, false) - 1
			case e.noOctal:
				b.WriteString(s[i-1 : i+1])
			default:
				i += number(&b, s[i:], 8, 3, false) - 1
			}
		case 'c':
			if e.stop {
				return b.String()
			}
			if i+1 < len(s) {
				i++
				b.WriteByte(s[i] & 0x1F)
			}
		default:
			if strings.IndexByte(`\'"?`, c) < 0 || e.quotes && c != '\\' {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Control is the character that a letter stands for behind a backslash, as in most
// languages; 0 if it stands for none.
func Control(letter byte) byte {
	const letters, characters = "abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v"
	if at := strings.IndexByte(letters, letter); at >= 0 {
		return characters[at]
	}
	return 0
}

// number reads up to n digits and writes the character; it returns how many
// digits there were.
func number(b *strings.Builder, s string, base, n int, wide bool) int {
	i := 0
	for i < n && i < len(s) && digit(s[i]) < base {
		i++
	}
	v, err := strconv.ParseUint(s[:i], base, 32)
	switch {
	case err != nil:
	case wide:
		b.WriteRune(rune(v))
	default:
		b.WriteByte(byte(v))
	}
	return i
}

func digit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return 99
}

// Quote makes one shell word of s, which means itself.
func Quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
