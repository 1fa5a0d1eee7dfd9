package strictjson

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendSorted appends one document as compact JSON with sorted keys, of what
// [Decode] takes and of nothing else, but without a tree of its values: for
// digests over what a document says. Numbers keep their text, and strings are
// written as [encoding/json.Encoder] writes them without its escapes for HTML.
// What is appended beside an error is of no use.
func AppendSorted(dst, data []byte, l Limits) ([]byte, error) {
	r, err := newReader(data, l)
	if err != nil {
		return dst, err
	}
	s := sorter{reader: r, out: dst}
	if err := s.value(); err != nil {
		return s.out, err
	}
	return s.out, s.end()
}

// A sorter writes a document while it is read, and puts the members of an object
// in order when its end is there.
type sorter struct {
	*reader
	out     []byte
	members []member // of all objects that are open
	names   []byte   // their keys, as they are compared
	spare   []byte
}

// A member is one of an object: where its key is in names, and it in out.
type member struct{ name, nameEnd, from, to int }

func (s *sorter) value() error {
	switch s.dec.PeekKind() {
	case '{':
		return s.object()
	case '[':
		return s.array()
	}
	raw, err := s.dec.ReadValue() // unlike a token's, its text is no copy
	if err != nil {
		return syntaxError(err)
	}
	switch raw.Kind() {
	case '"':
		s.out, err = appendQuoted(s.out, raw)
	case '0':
		_, err = number(string(raw))
		s.out = append(s.out, raw...)
	default:
		s.out = append(s.out, raw...)
	}
	return err
}

func (s *sorter) object() error {
	if _, err := s.token(); err != nil {
		return err
	}
	first, names := len(s.members), len(s.names)
	var folded map[string]string
	before := func(yield func(string) bool) {
		for _, m := range s.members[first:] {
			if !yield(string(s.nameOf(m))) {
				return
			}
		}
	}
	s.out = append(s.out, '{')
	start, ordered := len(s.out), true
	for s.dec.PeekKind() != '}' {
		if len(s.out) > start {
			s.out = append(s.out, ',')
		}
		m := member{name: len(s.names), from: len(s.out)}
		if err := s.name(&folded, before); err != nil {
			return err
		}
		m.nameEnd = len(s.names)
		if n := len(s.members); n > first && ordered {
			ordered = bytes.Compare(s.nameOf(s.members[n-1]), s.nameOf(m)) < 0
		}
		if err := s.value(); err != nil {
			return err
		}
		m.to = len(s.out)
		s.members = append(s.members, m)
	}
	if !ordered {
		s.sort(s.members[first:], start)
	}
	s.members, s.names = s.members[:first], s.names[:names]
	s.out = append(s.out, '}')
	_, err := s.token()
	return err
}

// name reads a key: it is kept to be compared, and written.
func (s *sorter) name(folded *map[string]string, before iter.Seq[string]) error {
	raw, err := s.dec.ReadValue()
	if err != nil {
		return syntaxError(err)
	}
	at := len(s.names)
	if s.names, err = jsontext.AppendUnquote(s.names, raw); err != nil {
		return err
	}
	key := ""
	if !s.lookAlikes {
		key = string(s.names[at:])
	}
	if err := s.admit(key, folded, before); err != nil {
		return err
	}
	s.out, err = appendQuoted(s.out, raw)
	s.out = append(s.out, ':')
	return err
}

func (s *sorter) nameOf(m member) []byte { return s.names[m.name:m.nameEnd] }

// sort puts the members of an object, which begin at start, in order.
func (s *sorter) sort(members []member, start int) {
	slices.SortFunc(members, func(a, b member) int { return bytes.Compare(s.nameOf(a), s.nameOf(b)) })
	s.spare = s.spare[:0]
	for i, m := range members {
		if i > 0 {
			s.spare = append(s.spare, ',')
		}
		s.spare = append(s.spare, s.out[m.from:m.to]...)
	}
	copy(s.out[start:], s.spare)
}

func (s *sorter) array() error {
	if _, err := s.token(); err != nil {
		return err
	}
	s.out = append(s.out, '[')
	for start := len(s.out); s.dec.PeekKind() != ']'; {
		if err := s.count(); err != nil {
			return err
		}
		if len(s.out) > start {
			s.out = append(s.out, ',')
		}
		if err := s.value(); err != nil {
			return err
		}
	}
	s.out = append(s.out, ']')
	_, err := s.token()
	return err
}

// appendQuoted appends a string, as encoding/json writes it. One without escapes
// is written as it stands.
func appendQuoted(dst []byte, raw jsontext.Value) ([]byte, error) {
	if !bytes.ContainsAny(raw, "\\\u2028\u2029") {
		return append(dst, raw...), nil
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return dst, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err = enc.Encode(string(text))
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...), err
}
