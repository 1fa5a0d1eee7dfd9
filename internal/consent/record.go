package consent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gate/internal/format"
	"gate/internal/strictjson"
)

// maxRecord bounds a file of the store. maxInput, the longest tool input that
// can be approved, leaves room for escapes and reasons in it.
const (
	maxRecord = 512 << 10
	maxInput  = 64 << 10
)

// Records are one line that says what they are and what the rest adds up to,
// and one line of JSON. The number is that of [format.Grant]:
//
//	gate 1 trust 3f6c…
//	{"at":"2026-11-21T10:00:00Z", …}
//
// The sum is against accidents: a file that was cut short, mixed up or edited
// by hand is a fault and never half a grant. It is no seal.
// seal makes a record.
func seal(kind string, body map[string]any) []byte {
	text := append(strictjson.Append(nil, body), '\n')
	out := append([]byte(format.Grant.Mark()+" "+kind+" "+sum(kind, text)), '\n')
	return append(out, text...)
}

// unseal takes a record apart and holds it against its sum.
func unseal(kind string, data []byte) (*fields, error) {
	line, text, whole := bytes.Cut(data, []byte{'\n'})
	maker, rest, _ := strings.Cut(string(line), " ")
	number, rest, _ := strings.Cut(rest, " ")
	have, want, _ := strings.Cut(rest, " ")
	mark := format.Grant.CheckMark(maker + " " + number)
	switch {
	case !whole:
		return nil, errors.New("it is cut short")
	case maker != "gate":
		return nil, errors.New("it is not gate's")
	case mark != nil:
		return nil, mark
	case have != kind:
		return nil, fmt.Errorf("it is a record of another kind, not of %s", kind)
	case want != sum(kind, text):
		return nil, errors.New("it is damaged: its content does not add up to its checksum")
	}
	m, err := strictjson.Object(text, strictjson.Limits{Bytes: maxRecord, Depth: 8, Keys: 10_000})
	if err != nil {
		return nil, err
	}
	return &fields{m: m}, nil
}

func sum(kind string, text []byte) string {
	h := sha256.New()
	h.Write([]byte(kind))
	h.Write([]byte{0})
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

// fields takes an object apart, strictly: every field once, of its type, and
// none left over. Mistakes are collected; see done.
type fields struct {
	m    map[string]any
	errs []error
}

func (f *fields) fail(format string, args ...any) {
	f.errs = append(f.errs, fmt.Errorf(format, args...))
}

// take returns a field and removes it.
func (f *fields) take(name string) (any, bool) {
	v, ok := f.m[name]
	delete(f.m, name)
	return v, ok
}

// text returns a string that must be there. It may be empty.
func (f *fields) text(name string) string {
	v, ok := f.take(name)
	if !ok {
		f.fail("%s is missing", name)
		return ""
	}
	s, isString := v.(string)
	if !isString {
		f.fail("%s is %s, not a string", name, strictjson.TypeName(v))
	}
	return s
}

// time returns a moment that must be there.
func (f *fields) time(name string) time.Time {
	before := len(f.errs)
	s := f.text(name)
	if len(f.errs) > before {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	switch {
	case err != nil:
		f.fail("%s: %q is not a time like 2026-01-31T10:00:00Z", name, clip(s))
	case t.IsZero():
		f.fail("%s is the zero time", name)
	}
	return t.UTC()
}

// object returns an object that must be there.
func (f *fields) object(name string) *fields {
	v, _ := f.take(name)
	m, ok := v.(map[string]any)
	if !ok {
		f.fail("%s is %s, not an object", name, strictjson.TypeName(v))
	}
	return &fields{m: maps.Clone(m)}
}

// objects returns a list of objects that must be there.
func (f *fields) objects(name string) []*fields {
	v, _ := f.take(name)
	list, ok := v.([]any)
	if !ok {
		f.fail("%s is %s, not a list", name, strictjson.TypeName(v))
	}
	var out []*fields
	for i, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			f.fail("%s[%d] is %s, not an object", name, i, strictjson.TypeName(e))
			continue
		}
		out = append(out, &fields{m: maps.Clone(m)})
	}
	return out
}

// include takes over the mistakes of a part.
func (f *fields) include(name string, part *fields) {
	if err := part.done(); err != nil {
		f.fail("%s: %w", name, err)
	}
}

// done returns all mistakes, joined.
func (f *fields) done() error {
	for _, name := range slices.Sorted(maps.Keys(f.m)) {
		f.fail("unknown field %q", clip(name))
	}
	f.m = nil
	return errors.Join(f.errs...)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// clip shortens a text for a message.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
