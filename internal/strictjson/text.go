package strictjson

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
)

// text is what a string says that the decoder has accepted. It is copied once, from
// escape to escape: what tools put out is long, and has an escape a line.
func text(raw jsontext.Value) string {
	rest := raw[1 : len(raw)-1]
	at := bytes.IndexByte(rest, '\\')
	if at < 0 {
		return string(rest)
	}
	var b strings.Builder
	b.Grow(len(rest))
	for at >= 0 {
		b.Write(rest[:at])
		rest = rest[at:]
		rest = rest[unescape(&b, rest):]
		at = bytes.IndexByte(rest, '\\')
	}
	b.Write(rest)
	return b.String()
}

// unescape writes what the escape that a text begins with stands for, and returns how
// many bytes it has.
func unescape(b *strings.Builder, text []byte) int {
	switch c := text[1]; c {
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case 't':
		b.WriteByte('\t')
	case 'u':
		r := unit(text)
		if utf16.IsSurrogate(r) { // the decoder accepts only pairs
			b.WriteRune(utf16.DecodeRune(r, unit(text[6:])))
			return 12
		}
		b.WriteRune(r)
		return 6
	default:
		b.WriteByte(c)
	}
	return 2
}

// unit is the number of an escape \u.
func unit(text []byte) rune {
	n, _ := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n)
}
