package code

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"gate/facts/internal/bash"
)

// escape reads a backslash and what it escapes.
func (l *lexer) escape(out *strings.Builder, q quoting, open, end byte) {
	c := l.peek(1)
	if l.pos+1 >= len(l.text) {
		out.WriteByte('\\')
		l.pos++
		return
	}
	if q.raw {
		if c != '\\' && c != end && (open == 0 || c != open) {
			out.WriteByte('\\')
		}
		out.WriteByte(c)
		l.pos += 2
		return
	}
	l.pos += 2
	switch c {
	case 'a', 'b', 'e', 'f', 'n', 'r', 't', 'v':
		out.WriteByte(bash.Control(c))
	case '\n': // the string goes on in the next line
	case 'x':
		l.hexEscape(out, 2, true)
	case 'u':
		l.hexEscape(out, 4, false)
	case 'U':
		l.hexEscape(out, 8, false)
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		l.pos--
		l.digitEscape(out)
	default:
		if q.keep && c != '\\' && c != end {
			out.WriteByte('\\')
		}
		out.WriteByte(c)
	}
}

// hexEscape reads up to n hexadecimal digits, or any number in braces.
func (l *lexer) hexEscape(out *strings.Builder, n int, bytes bool) {
	digits := ""
	if l.peek(0) == '{' {
		if end := strings.IndexByte(l.text[l.pos:min(len(l.text), l.pos+12)], '}'); end > 0 {
			digits = l.text[l.pos+1 : l.pos+end]
			l.pos += end + 1
			bytes = false
		}
	} else {
		at := l.pos
		for l.pos < len(l.text) && l.pos-at < n && strings.IndexByte("0123456789abcdefABCDEF", l.text[l.pos]) >= 0 {
			l.pos++
		}
		digits = l.text[at:l.pos]
	}
	v, err := strconv.ParseUint(digits, 16, 32)
	switch {
	case err != nil:
		out.WriteRune(utf8.RuneError)
	case bytes:
		out.WriteByte(byte(v))
	default:
		out.WriteRune(rune(v))
	}
}

// digitEscape reads an octal escape, or Lua's decimal one.
func (l *lexer) digitEscape(out *strings.Builder) {
	at, base, max := l.pos, 8, "7"
	if l.syntax.decimals {
		base, max = 10, "9"
	}
	for l.pos < len(l.text) && l.pos-at < 3 && l.text[l.pos] >= '0' && l.text[l.pos] <= max[0] {
		l.pos++
	}
	if l.pos == at { // 8 or 9 where only octal digits count
		l.pos++
		out.WriteByte(l.text[at])
		return
	}
	v, err := strconv.ParseUint(l.text[at:l.pos], base, 16)
	if err != nil || v > 255 {
		out.WriteRune(utf8.RuneError)
		return
	}
	out.WriteByte(byte(v))
}
