package value

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text returns v as it is written in Rego, with sets and keys in order: what
// sprintf's %v makes of a composite value.
func Text(v Value) string { return string(AppendText(nil, v)) }

// AppendText appends [Text] of v.
func AppendText(dst []byte, v Value) []byte {
	switch v := v.(type) {
	case Null:
		return append(dst, "null"...)
	case Bool:
		return strconv.AppendBool(dst, bool(v))
	case Int:
		return strconv.AppendInt(dst, int64(v), 10)
	case Decimal:
		return append(dst, v...)
	case String:
		return strconv.AppendQuote(dst, string(v))
	case *Array:
		return append(appendTexts(append(dst, '['), v.elems), ']')
	case *Set:
		if len(v.elems) == 0 {
			return append(dst, "set()"...)
		}
		return append(appendTexts(append(dst, '{'), v.Elems()), '}')
	case *Object:
		dst = append(dst, '{')
		for i, p := range v.Pairs() {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(AppendText(dst, p.Key), ": "...)
			dst = AppendText(dst, p.Value)
		}
		return append(dst, '}')
	}
	return append(dst, "undefined"...)
}

func appendTexts(dst []byte, list []Value) []byte {
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = AppendText(dst, v)
	}
	return dst
}

// AppendJSON appends v as json.marshal writes it: sets are arrays, keys are in
// order and those that are no strings are their own JSON; <, > and & are
// escaped.
func AppendJSON(dst []byte, v Value) []byte {
	switch v := v.(type) {
	case Null, Bool, Int, Decimal:
		return AppendText(dst, v)
	case String:
		return appendQuoted(dst, string(v))
	case *Array:
		return append(appendList(append(dst, '['), v.elems), ']')
	case *Set:
		return append(appendList(append(dst, '['), v.Elems()), ']')
	case *Object:
		dst = append(dst, '{')
		for i, p := range named(v) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendQuoted(dst, p.name), ':')
			dst = AppendJSON(dst, p.value)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

func appendList(dst []byte, list []Value) []byte {
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendJSON(dst, v)
	}
	return dst
}

// A field is a key with a name in JSON.
type field struct {
	name  string
	value Value
}

// named returns what an object holds by names in JSON, in their order. Of keys
// that get one name the last counts.
func named(o *Object) []field {
	fields := make([]field, 0, o.Len())
	plain := true
	for _, p := range o.Pairs() {
		name, isText := p.Key.(String)
		if !isText {
			plain = false
			name = String(AppendJSON(nil, p.Key))
		}
		fields = append(fields, field{string(name), p.Value})
	}
	if plain {
		return fields
	}
	sort.SliceStable(fields, func(i, j int) bool { return fields[i].name < fields[j].name }) // slices has a body for each type
	kept := fields[:0]
	for i, f := range fields {
		if i+1 == len(fields) || fields[i+1].name != f.name {
			kept = append(kept, f)
		}
	}
	return kept
}

// appendQuoted appends a string of JSON. What is no UTF-8 becomes U+FFFD.
func appendQuoted(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		wrong := r == utf8.RuneError && size == 1
		if c >= utf8.RuneSelf && !wrong && r != '\u2028' && r != '\u2029' {
			i += size
			continue
		}
		dst = append(dst, s[from:i]...)
		i += size
		from = i
		switch {
		case wrong:
			dst = append(dst, `\ufffd`...)
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case strings.IndexByte("\b\f\n\r\t", c) >= 0:
			dst = append(dst, '\\', "bfnrt"[strings.IndexByte("\b\f\n\r\t", c)])
		default:
			dst = append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		}
	}
	return append(append(dst, s[from:]...), '"')
}
