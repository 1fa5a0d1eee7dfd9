package mcpproxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"gate/internal/strictjson"
)

const (
	maxMembers = 256 // keys of a message, or of its params
	maxBatch   = 1000
	maxID      = 256 // bytes of an id
)

// A span is where a value stands in a message; the zero span is no value.
type span struct{ start, end int }

func (s span) of(raw []byte) []byte { return raw[s.start:s.end] }

// A message is one JSON-RPC message as far as the proxy has to understand it.
type message struct {
	raw                        []byte
	id, params, result, failed span
	method                     string
	named                      bool // it has a method
}

func (m *message) hasID() bool { return m.id != span{} && !bytes.Equal(m.id.of(m.raw), []byte("null")) }

// answers reports that the message says how a request ended.
func (m *message) answers() bool { return !m.named }

// scan reads the outermost keys of one message. What two readers could take for
// two different messages is an error: keys that are there twice or only look
// alike, invalid UTF-8, text behind the message.
func scan(raw []byte) (message, error) {
	m := message{raw: raw}
	list, err := members(raw)
	if err != nil {
		return m, err
	}
	seen := map[string]bool{}
	for _, e := range list {
		name := strictjson.Fold(e.key)
		if seen[name] {
			return m, fmt.Errorf("duplicate key %s", strconv.QuoteToASCII(clip(e.key)))
		}
		seen[name] = true
		var place *span
		switch name {
		case "id":
			place = &m.id
		case "params":
			place = &m.params
		case "result":
			place = &m.result
		case "error":
			place = &m.failed
		case "method":
			place = &span{}
			if m.method, err = text(e.value.of(raw)); err != nil {
				return m, errors.New("method is no string")
			}
			m.named = true
		case "jsonrpc":
			place = &span{}
		default:
			continue
		}
		if name != e.key {
			return m, fmt.Errorf("the key %s looks like %s", strconv.QuoteToASCII(clip(e.key)), name)
		}
		*place = e.value
	}
	answer := m.result != span{} || m.failed != span{}
	if m.named && answer || !m.named && !answer {
		return m, errors.New("neither a request nor an answer")
	}
	return m, nil
}

// A member is one key of an object and where its value stands.
type member struct {
	key   string
	value span
}

// members reads the keys of an object, which must be the whole of raw. Values
// are looked at as far as JSON's syntax goes.
func members(raw []byte) ([]member, error) {
	dec := decoder(raw)
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return nil, badSyntax(err, "no object")
	}
	var list []member
	for dec.PeekKind() != '}' {
		key, err := dec.ReadToken()
		if err != nil {
			return nil, badSyntax(err, "")
		}
		if len(list) == maxMembers {
			return nil, fmt.Errorf("more than %d keys", maxMembers)
		}
		name := key.String()
		at, err := value(dec)
		if err != nil {
			return nil, err
		}
		list = append(list, member{name, at})
	}
	return list, end(dec)
}

// elements returns where the values of an array stand, of which it may have most.
func elements(raw []byte, most int) ([]span, error) {
	dec := decoder(raw)
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '[' {
		return nil, badSyntax(err, "no array")
	}
	var list []span
	for dec.PeekKind() != ']' {
		if len(list) == most {
			return nil, fmt.Errorf("more than %d in one list", most)
		}
		at, err := value(dec)
		if err != nil {
			return nil, err
		}
		list = append(list, at)
	}
	return list, end(dec)
}

func decoder(raw []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true))
}

func value(dec *jsontext.Decoder) (span, error) {
	v, err := dec.ReadValue()
	if err != nil {
		return span{}, badSyntax(err, "")
	}
	stop := int(dec.InputOffset())
	return span{stop - len(v), stop}, nil
}

// end reads the bracket that closes the document, and sees that it is the last.
func end(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); err != nil {
		return badSyntax(err, "")
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return errors.New("more than one document")
	}
	return nil
}

func badSyntax(err error, otherwise string) error {
	var syn *jsontext.SyntacticError
	switch {
	case err == nil:
		return errors.New(otherwise)
	case errors.As(err, &syn) && !errors.Is(syn.Err, io.ErrUnexpectedEOF):
		return fmt.Errorf("no JSON: %s (byte %d)", strings.TrimPrefix(syn.Err.Error(), "jsontext: "), syn.ByteOffset)
	}
	return errors.New("no JSON: it ends too early")
}

func text(raw []byte) (string, error) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", errors.New("no string")
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	return string(b), err
}

// idKey is the same for all ids that some client takes for the same: some
// compare numbers as 64-bit floats, and some take "1" for 1.
func idKey(raw []byte) (string, error) {
	if len(raw) == 0 || len(raw) > maxID {
		return "", errors.New("the id is empty or too long")
	}
	s := string(raw)
	if raw[0] == '"' {
		var err error
		if s, err = text(raw); err != nil {
			return "", err
		}
		if f, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil && !math.IsNaN(f) {
			return numberKey(f), nil
		}
		return "s" + s, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return "", errors.New("the id is neither a string nor a number")
	}
	return numberKey(f), nil
}

func numberKey(f float64) string { return "n" + strconv.FormatFloat(f+0, 'g', -1, 64) }

// clip shortens what a stranger wrote for a message of ours.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// splice puts text in the place of a part of raw, which stays as it is.
func splice(raw []byte, at span, text []byte) []byte {
	out := make([]byte, 0, len(raw)-(at.end-at.start)+len(text)+1)
	out = append(out, raw[:at.start]...)
	out = append(out, text...)
	return append(out, raw[at.end:]...)
}
