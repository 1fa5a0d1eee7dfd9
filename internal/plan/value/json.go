package value

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// ParseJSON reads one document as json.unmarshal does: of equal keys the last
// counts, bytes that are no UTF-8 become U+FFFD, numbers keep their text. It is
// for text that policies work on; an event is read by package strictjson.
func ParseJSON(text string) (Value, error) {
	var checked bytes.Buffer
	if err := json.Compact(&checked, []byte(text)); err != nil {
		return nil, err // in the words of the package that OPA reads with
	}
	return parse(jsontext.NewDecoder(&checked, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)))
}

func parse(d *jsontext.Decoder) (Value, error) {
	tok, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case '{':
		return parseObject(d)
	case '[':
		return parseArray(d)
	case '"':
		return String(tok.String()), nil
	case '0':
		return Number(tok.String())
	case 't', 'f':
		return Bool(tok.Bool()), nil
	}
	return Null{}, nil
}

func parseObject(d *jsontext.Decoder) (Value, error) {
	o := &Object{}
	for d.PeekKind() != '}' {
		tok, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := String(tok.String())
		v, err := parse(d)
		if err != nil {
			return nil, err
		}
		o.Insert(key, v)
	}
	_, err := d.ReadToken()
	return o, err
}

func parseArray(d *jsontext.Decoder) (Value, error) {
	a := &Array{}
	for d.PeekKind() != ']' {
		v, err := parse(d)
		if err != nil {
			return nil, err
		}
		a.Append(v)
	}
	_, err := d.ReadToken()
	return a, err
}
