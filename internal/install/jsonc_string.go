package install

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads a string and returns its value. A lone surrogate, which JSON
// allows in its escaped form, reads as U+FFFD.
func (p *parser) quoted() (string, error) {
	begin := p.at
	var out []byte
	for i := begin + 1; i < len(p.text); {
		switch c := p.text[i]; {
		case c == '"':
			p.token(i + 1)
			return string(out), nil
		case c == '\\':
			r, size := unescape(p.text[i:])
			if size == 0 {
				return "", p.fail(i, "an invalid escape in a string")
			}
			out = utf8.AppendRune(out, r)
			i += size
		case c < 0x20:
			return "", p.fail(i, "a control character in a string")
		default:
			r, size := utf8.DecodeRune(p.text[i:])
			if r == utf8.RuneError && size == 1 {
				return "", p.fail(i, "invalid UTF-8")
			}
			out = append(out, p.text[i:i+size]...)
			i += size
		}
	}
	return "", p.fail(begin, "the string does not end")
}

// unescape reads one escape at the beginning of s; size 0 means that it is none.
func unescape(s []byte) (r rune, size int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case '"', '\\', '/':
		return rune(s[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r, ok := hex4(s)
		if !ok {
			return 0, 0
		}
		if utf16.IsSurrogate(r) {
			low, ok := hex4(s[6:])
			if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
				return pair, 12
			}
			return utf8.RuneError, 6
		}
		return r, 6
	}
	return 0, 0
}

// hex4 reads \uXXXX.
func hex4(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	return rune(v), err == nil
}
