package strictjson

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Append appends v as compact JSON with sorted keys, so that equal values have
// equal bytes. It takes the types that [Decode] returns, and the Go integers,
// float64, []string and map[string]string for convenience. Control characters,
// invisible and bidirectional ones, and U+2028 are escaped, and invalid UTF-8 becomes U+FFFD:
// the text can go to a terminal and to a line-based log. Other types panic:
// they are a programming error, not input.
func Append(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return appendString(dst, v)
	case json.Number:
		return append(dst, v...)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		return strconv.AppendFloat(dst, v, 'g', -1, 64)
	case []any:
		return appendList(dst, v)
	case []string:
		return appendList(dst, v)
	case map[string]any:
		return appendMap(dst, v)
	case map[string]string:
		return appendMap(dst, v)
	case []map[string]any:
		return appendList(dst, v)
	}
	panic(fmt.Sprintf("strictjson: cannot encode %T", v))
}

func appendList[T any](dst []byte, list []T) []byte {
	dst = append(dst, '[')
	for i, e := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = Append(dst, e)
	}
	return append(dst, ']')
}

func appendMap[T any](dst []byte, m map[string]T) []byte {
	dst = append(dst, '{')
	for i, k := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, k)
		dst = append(dst, ':')
		dst = Append(dst, m[k])
	}
	return append(dst, '}')
}

const hexDigits = "0123456789abcdef"

func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			dst = appendASCII(dst, c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(dst, "\uFFFD"...)
		case unprintable(r):
			dst = appendEscape(dst, r)
		default:
			dst = append(dst, s[i:i+size]...)
		}
		i += size
	}
	return append(dst, '"')
}

func appendASCII(dst []byte, c byte) []byte {
	switch {
	case c == '"' || c == '\\':
		return append(dst, '\\', c)
	case c == '\n':
		return append(dst, '\\', 'n')
	case c == '\t':
		return append(dst, '\\', 't')
	case c < 0x20 || c == 0x7F:
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
	return append(dst, c)
}

// unprintable reports C1 controls, zero-width and bidirectional marks, and the
// separators that JavaScript or a terminal takes for line ends.
func unprintable(r rune) bool {
	switch {
	case 0x80 <= r && r <= 0x9F, r == 0xAD,
		0x200B <= r && r <= 0x200F, 0x2028 <= r && r <= 0x202E,
		0x2060 <= r && r <= 0x206F, r == 0xFEFF, 0xE0000 <= r && r <= 0xE007F:
		return true
	}
	return false
}

func appendEscape(dst []byte, r rune) []byte {
	if r > 0xFFFF {
		r -= 0x10000
		dst = appendEscape(dst, 0xD800+(r>>10))
		r = 0xDC00 + (r & 0x3FF)
	}
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// Indent returns v as JSON for people to read: two blanks a level.
func Indent(v any) string {
	var b strings.Builder
	indent(&b, v, "\n")
	return b.String()
}

func indent(b *strings.Builder, v any, nl string) {
	inner := nl + "  "
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			b.WriteString("{}")
			return
		}
		b.WriteByte('{')
		for i, k := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(inner)
			b.Write(appendString(nil, k))
			b.WriteString(": ")
			indent(b, v[k], inner)
		}
		b.WriteString(nl + "}")
	case []any:
		if len(v) == 0 || !nested(v) {
			b.Write(Append(nil, v))
			return
		}
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(inner)
			indent(b, e, inner)
		}
		b.WriteString(nl + "]")
	default:
		b.Write(Append(nil, v))
	}
}

func nested(list []any) bool {
	for _, e := range list {
		switch e.(type) {
		case map[string]any, []any:
			return true
		}
	}
	return false
}
