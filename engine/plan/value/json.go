package value

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds brackets within brackets.
const maxDepth = 10_000

var (
	errEnd  = errors.New("unexpected end of JSON input")
	errDeep = errors.New("exceeded max depth")
)

// ParseJSON reads one document as json.unmarshal does: of equal keys the last
// counts, bytes that are no UTF-8 become U+FFFD, numbers keep their text. It is
// for text that policies work on; an event is read by package strictjson.
func ParseJSON(text string) (Value, error) {
	r := reader{text: text}
	v, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if r.space(); r.at < len(text) {
		return nil, fmt.Errorf("invalid character %q after top-level value", text[r.at])
	}
	return v, nil
}

// A reader reads JSON.
type reader struct {
	text string
	at   int
}

// space skips white space and returns the byte after it, 0 at the end.
func (r *reader) space() byte {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (r *reader) unexpected(where string) error {
	if r.at >= len(r.text) {
		return errEnd
	}
	return fmt.Errorf("invalid character %q %s", r.text[r.at], where)
}

func (r *reader) value(depth int) (Value, error) {
	if depth > maxDepth {
		return nil, errDeep
	}
	switch c := r.space(); {
	case c == '{':
		return r.object(depth)
	case c == '[':
		return r.array(depth)
	case c == '"':
		s, err := r.quoted()
		return String(s), err
	case c == '-' || c >= '0' && c <= '9':
		return r.number()
	}
	for _, word := range [...]string{"null", "true", "false"} {
		if strings.HasPrefix(r.text[r.at:], word) {
			r.at += len(word)
			if word == "null" {
				return Null{}, nil
			}
			return Bool(word == "true"), nil
		}
	}
	return nil, r.unexpected("looking for beginning of value")
}

// list reads what stands between brackets, one by one.
func (r *reader) list(end byte, one func() error) error {
	r.at++
	if r.space() == end {
		r.at++
		return nil
	}
	for {
		if err := one(); err != nil {
			return err
		}
		switch r.space() {
		case ',':
			r.at++
		case end:
			r.at++
			return nil
		default:
			return r.unexpected("after element")
		}
	}
}

func (r *reader) array(depth int) (Value, error) {
	a := &Array{}
	err := r.list(']', func() error {
		v, err := r.value(depth + 1)
		if err == nil {
			a.Append(v)
		}
		return err
	})
	return a, err
}

func (r *reader) object(depth int) (Value, error) {
	o := &Object{}
	err := r.list('}', func() error {
		if r.space() != '"' {
			return r.unexpected("looking for beginning of object key string")
		}
		key, err := r.quoted()
		if err != nil {
			return err
		}
		if r.space() != ':' {
			return r.unexpected("after object key")
		}
		r.at++
		v, err := r.value(depth + 1)
		if err == nil {
			o.Insert(String(key), v)
		}
		return err
	})
	return o, err
}

func (r *reader) number() (Value, error) {
	from := r.at
	digits := func() bool {
		start := r.at
		for r.at < len(r.text) && r.text[r.at] >= '0' && r.text[r.at] <= '9' {
			r.at++
		}
		return r.at > start
	}
	is := func(set string) bool {
		if r.at < len(r.text) && strings.IndexByte(set, r.text[r.at]) >= 0 {
			r.at++
			return true
		}
		return false
	}
	is("-")
	ok := is("0") || digits()
	if ok && is(".") {
		ok = digits()
	}
	if ok && is("eE") {
		is("+-")
		ok = digits()
	}
	if !ok {
		return nil, r.unexpected("in numeric literal")
	}
	return Number(r.text[from:r.at])
}

// quoted reads a string.
func (r *reader) quoted() (string, error) {
	r.at++
	from := r.at
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '"':
			r.at++
			return r.text[from : r.at-1], nil
		case c == '\\' || c < ' ' || c >= utf8.RuneSelf:
			return r.escaped([]byte(r.text[from:r.at]))
		}
	}
	return "", errEnd
}

// escaped reads the rest of a string that is not what it stands for.
func (r *reader) escaped(s []byte) (string, error) {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '"':
			r.at++
			return string(s), nil
		case c < ' ':
			return "", r.unexpected("in string literal")
		case c == '\\':
			r.at++
			char, err := r.escape()
			if err != nil {
				return "", err
			}
			s = utf8.AppendRune(s, char)
		default:
			char, size := utf8.DecodeRuneInString(r.text[r.at:])
			s = utf8.AppendRune(s, char)
			r.at += size
		}
	}
	return "", errEnd
}

// escape reads what follows a backslash.
func (r *reader) escape() (rune, error) {
	if r.at >= len(r.text) {
		return 0, errEnd
	}
	c := r.text[r.at]
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		r.at++
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		return 0, r.unexpected("in string escape code")
	}
	r.at++
	char, ok := r.hex()
	if !ok {
		return 0, r.unexpected("in \\u hexadecimal character escape")
	}
	if !utf16.IsSurrogate(char) {
		return char, nil
	}
	back := r.at
	if strings.HasPrefix(r.text[r.at:], `\u`) {
		r.at += 2
		if low, ok := r.hex(); ok {
			if both := utf16.DecodeRune(char, low); both != utf8.RuneError {
				return both, nil
			}
		}
	}
	r.at = back
	return utf8.RuneError, nil
}

// hex reads four hexadecimal digits.
func (r *reader) hex() (rune, bool) {
	n := rune(0)
	for range 4 {
		if r.at >= len(r.text) {
			return 0, false
		}
		c := r.text[r.at]
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			n = n<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
		r.at++
	}
	return n, true
}
