package strictjson

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Append appends v as compact JSON with sorted keys, so that equal values have
// equal bytes. It takes the types that [Decode] returns, and int, int64,
// float64, []string, []map[string]any and map[string]string for convenience.
// Control characters, invisible and bidirectional ones, and U+2028 are escaped,
// and invalid UTF-8 becomes U+FFFD: the text can go to a terminal and to a
// line-based log. Other types panic: they are a programming error, not input.
// A number that JSON does not have, such as NaN, becomes null. An [Appender]
// appends itself. Where a value is not of gate's own making, ask [Check] first.
func Append(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return appendString(dst, v)
	case json.Number:
		if !validNumber(string(v)) {
			return append(dst, "null"...)
		}
		return append(dst, v...)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return append(dst, "null"...)
		}
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
	case Appender:
		return v.AppendJSON(dst)
	}
	panic(fmt.Sprintf("strictjson: cannot encode %T", v))
}

// An Appender appends itself as [Append] would append a value that says the
// same, without making that value first. It is for lists that are long.
type Appender interface {
	AppendJSON(dst []byte) []byte
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
	var few [24]string // most objects have no more, and then no list of their keys is made
	keys := few[:0]
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	dst = append(dst, '{')
	for i, k := range keys {
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
		if n := simple(s[i:]); n > 0 {
			dst = append(dst, s[i:i+n]...)
			i += n
			continue
		}
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

// simple is how many bytes a text begins with that stand for themselves.
func simple(s string) int {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7F || c == '"' || c == '\\' {
			return i
		}
	}
	return len(s)
}

// appendASCII appends one character that is not [simple].
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

func appendEscape(dst []byte, r rune) []byte {
	if r > 0xFFFF {
		r -= 0x10000
		dst = appendEscape(dst, 0xD800+(r>>10))
		r = 0xDC00 + (r & 0x3FF)
	}
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
