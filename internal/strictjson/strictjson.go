// Package strictjson reads JSON that a stranger wrote and writes JSON that a
// stranger will read.
//
// It is for every byte that decides something: events, handlers' output,
// settings. It refuses what two readers could understand differently
// (duplicate keys, keys that only look alike, invalid UTF-8, trailing data) and
// what would cost too much (size, depth, key count). It is not for filling Go
// structs: values are plain trees of map[string]any, []any, string,
// [encoding/json.Number], bool and nil. Start with [Object].
//
// docs/architecture.md has the rule that it keeps: 3.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits bound a document. A zero field means its default.
type Limits struct {
	Bytes int // default 16 MiB
	Depth int // nested objects and arrays, default 64
	Keys  int // object keys and array elements in the whole document, default 200 000

	// LookAlikes takes keys that differ only in case and the like. It is for
	// data that is looked up by exact key, never for what gate itself reads.
	LookAlikes bool
}

const (
	defaultBytes = 16 << 20
	defaultDepth = 64
	defaultKeys  = 200_000
	maxNumber    = 64 // characters of one number
	maxQuoted    = 80 // bytes of a key in a message
	maxBeginning = 64 // strings that Beginning returns
)

func (l Limits) withDefaults() Limits {
	if l.Bytes == 0 {
		l.Bytes = defaultBytes
	}
	if l.Depth == 0 {
		l.Depth = defaultDepth
	}
	if l.Keys == 0 {
		l.Keys = defaultKeys
	}
	return l
}

// ErrEmpty reports input without a document.
var ErrEmpty = errors.New("empty input")

// Object decodes exactly one JSON object.
func Object(data []byte, l Limits) (map[string]any, error) {
	v, err := Decode(data, l)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s where an object is wanted", TypeName(v))
	}
	return m, nil
}

// Decode decodes exactly one JSON value of any type.
func Decode(data []byte, l Limits) (any, error) {
	// The decoder would keep a copy of all keys to find duplicates; the maps find them, too.
	r, err := newReader(data, l, jsontext.AllowDuplicateNames(true))
	if err != nil {
		return nil, err
	}
	v, err := r.value()
	if err != nil {
		return nil, err
	}
	return v, r.end()
}

// Beginning is the strings of an object that cannot be decoded, by their keys: those before the
// place where it ends or breaks. Of a key that comes twice the first counts.
func Beginning(data []byte) map[string]any {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return nil
	}
	m := map[string]any{}
	for dec.PeekKind() == '"' && len(m) < maxBeginning {
		key, err := dec.ReadToken()
		if err != nil {
			break
		}
		name := key.String() // the next read makes it another one
		if dec.PeekKind() != '"' {
			if dec.SkipValue() != nil {
				break
			}
			continue
		}
		raw, err := dec.ReadValue()
		if err != nil {
			break
		}
		if _, twice := m[name]; !twice {
			m[name] = text(raw)
		}
	}
	return m
}

// A reader takes a document apart, within limits.
type reader struct {
	dec        *jsontext.Decoder
	keysLeft   int
	depth      int
	lookAlikes bool
}

func newReader(data []byte, l Limits, opts ...jsontext.Options) (*reader, error) {
	l = l.withDefaults()
	if len(data) > l.Bytes {
		return nil, fmt.Errorf("larger than %d bytes", l.Bytes)
	}
	if len(bytes.TrimLeft(data, " \t\r\n")) == 0 {
		return nil, ErrEmpty
	}
	// Of a buffer, unlike other readers, the decoder makes no copy.
	return &reader{dec: jsontext.NewDecoder(bytes.NewBuffer(data), opts...), keysLeft: l.Keys, depth: l.Depth, lookAlikes: l.LookAlikes}, nil
}

// token reads a token, and none that would begin what is nested too deep: depth
// must not cost the stack of whoever calls this for each value.
func (r *reader) token() (jsontext.Token, error) {
	tok, err := r.dec.ReadToken()
	if err != nil {
		return tok, syntaxError(err)
	}
	if k := tok.Kind(); (k == '{' || k == '[') && r.dec.StackDepth() > r.depth {
		return tok, fmt.Errorf("nested deeper than %d (byte %d)", r.depth, r.dec.InputOffset()-1)
	}
	return tok, nil
}

// end makes sure that nothing follows.
func (r *reader) end() error {
	if _, err := r.dec.ReadToken(); err != io.EOF {
		return fmt.Errorf("more than one document (byte %d)", r.dec.InputOffset())
	}
	return nil
}

func (r *reader) value() (any, error) {
	if r.dec.PeekKind() == '"' {
		raw, err := r.dec.ReadValue() // unlike a token's, its text is no copy
		if err != nil {
			return nil, syntaxError(err)
		}
		return text(raw), nil
	}
	tok, err := r.token()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case '{':
		return r.object()
	case '[':
		return r.array()
	case '0':
		return number(tok.String())
	case 't', 'f':
		return tok.Bool(), nil
	case 'n':
		return nil, nil
	}
	return nil, fmt.Errorf("unexpected %q at byte %d", tok.Kind().String(), r.dec.InputOffset())
}

func (r *reader) object() (any, error) {
	m := map[string]any{}
	var folded map[string]string
	before := maps.Keys(m)
	for r.dec.PeekKind() != '}' {
		tok, err := r.token()
		if err != nil {
			return nil, err
		}
		key := tok.String()
		if _, twice := m[key]; twice {
			return nil, fmt.Errorf("duplicate key %s", quote(key))
		}
		if err := r.admit(key, &folded, before); err != nil {
			return nil, err
		}
		if m[key], err = r.value(); err != nil {
			return nil, err
		}
	}
	if _, err := r.token(); err != nil {
		return nil, err
	}
	return m, nil
}

// admit counts a key and holds it against those before, none of which it is.
// Look-alikes need one key that does not fold to itself, which is rare: nothing
// is folded before that.
func (r *reader) admit(key string, folded *map[string]string, before iter.Seq[string]) error {
	if err := r.count(); err != nil || r.lookAlikes {
		return err
	}
	fold := Fold(key)
	if *folded == nil && fold == key {
		return nil
	}
	if *folded == nil {
		*folded = map[string]string{}
		for k := range before {
			(*folded)[Fold(k)] = k
		}
	}
	if twin, ok := (*folded)[fold]; ok {
		return fmt.Errorf("keys %s and %s look alike", quote(twin), quote(key))
	}
	(*folded)[fold] = key
	return nil
}

func (r *reader) array() (any, error) {
	a := []any{}
	for r.dec.PeekKind() != ']' {
		if err := r.count(); err != nil {
			return nil, err
		}
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
	if _, err := r.token(); err != nil {
		return nil, err
	}
	return a, nil
}

func (r *reader) count() error {
	if r.keysLeft--; r.keysLeft < 0 {
		return errors.New("too many keys and elements")
	}
	return nil
}

// number keeps the text, so that nothing is rounded, and refuses what a reader
// with 64-bit floats would turn into infinity.
func number(s string) (any, error) {
	if len(s) > maxNumber {
		return nil, fmt.Errorf("a number of %d characters", len(s))
	}
	if _, err := strconv.ParseFloat(s, 64); err != nil {
		return nil, fmt.Errorf("number %s is out of range", s)
	}
	return json.Number(s), nil
}

// syntaxError turns the decoder's sentence into a short one with its position.
func syntaxError(err error) error {
	var syn *jsontext.SyntacticError
	if !errors.As(err, &syn) {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return errors.New("the document ends too early")
		}
		return err
	}
	cause := syn.Err
	switch {
	case errors.Is(cause, io.ErrUnexpectedEOF), errors.Is(cause, io.EOF):
		return errors.New("the document ends too early")
	case errors.Is(cause, jsontext.ErrDuplicateName):
		return fmt.Errorf("duplicate key %s", quote(syn.JSONPointer.LastToken()))
	}
	return fmt.Errorf("%s (byte %d)", strings.TrimPrefix(cause.Error(), "jsontext: "), syn.ByteOffset)
}

// quote shows a key of any length in a message.
func quote(key string) string {
	if len(key) > maxQuoted {
		key = key[:maxQuoted] + "…"
	}
	return strconv.QuoteToASCII(key)
}

// TypeName names the JSON type of a value for messages.
func TypeName(v any) string {
	switch v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	case string:
		return "a string"
	case json.Number, int, int64, float64:
		return "a number"
	case bool:
		return "a boolean"
	case nil:
		return "null"
	}
	return "an unknown value"
}

// Texts returns a text as a list of one, and of a list the texts; nil for
// anything else. Documents in which one or several are allowed have been checked
// by then, so what is no text is passed over.
func Texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}
