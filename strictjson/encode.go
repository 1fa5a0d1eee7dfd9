package strictjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
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

// Check reports why [Append] could not write v as it is: a type that it does not
// take, a number that JSON does not have, invalid UTF-8, or too much nesting.
func Check(v any) error { return check(v, defaultDepth) }

func check(v any, depth int) error {
	if depth < 0 {
		return fmt.Errorf("nested deeper than %d", defaultDepth)
	}
	switch v := v.(type) {
	case nil, bool, int, int64:
	case string:
		if !utf8.ValidString(v) {
			return errors.New("a string of invalid UTF-8")
		}
	case json.Number:
		if !validNumber(string(v)) {
			return fmt.Errorf("%q is no number", string(v))
		}
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%v is no JSON number", v)
		}
	case []any:
		return checkList(v, depth)
	case []string:
		return checkList(v, depth)
	case []map[string]any:
		return checkList(v, depth)
	case map[string]any:
		return checkMap(v, depth)
	case map[string]string:
		return checkMap(v, depth)
	default:
		return fmt.Errorf("a Go value of type %T", v)
	}
	return nil
}

func checkList[T any](list []T, depth int) error {
	for i, e := range list {
		if err := check(e, depth-1); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return nil
}

func checkMap[T any](m map[string]T, depth int) error {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !utf8.ValidString(k) {
			return errors.New("a key of invalid UTF-8")
		}
		if err := check(m[k], depth-1); err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
	}
	return nil
}

// validNumber holds s against JSON's grammar.
func validNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	n := digits(s)
	if n == 0 || n > 1 && s[0] == '0' {
		return false
	}
	s = s[n:]
	if strings.HasPrefix(s, ".") {
		if n = digits(s[1:]); n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		n = digits(s)
		return n > 0 && n == len(s)
	}
	return s == ""
}

// digits counts the leading digits of s.
func digits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
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
