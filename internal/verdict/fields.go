package verdict

import (
	"fmt"
	"strings"

	"gate/hook"
	"gate/internal/plan/value"
)

// fields are the parts of one member. The first mistake stays in err.
type fields struct {
	parts []value.Pair // their keys are strings
	err   error
}

// fieldsOf takes an object with known keys only, or the string that stands for
// an object with its main part only.
func fieldsOf(name Rule, v value.Value) (fields, error) {
	switch v := v.(type) {
	case value.String:
		switch name {
		case Modify, Consult, Confine:
			return fields{}, fmt.Errorf("a string where an object is wanted")
		case Context:
			return fields{parts: []value.Pair{{Key: value.String("text"), Value: v}}}, nil
		case Remember:
			return fields{parts: []value.Pair{{Key: value.String("mark"), Value: v}}}, nil
		}
		return fields{parts: []value.Pair{{Key: value.String("reason"), Value: v}}}, nil
	case *value.Object:
		for _, p := range v.Pairs() {
			key, ok := p.Key.(value.String)
			if !ok {
				return fields{}, fmt.Errorf("a key that is no string")
			}
			if !name.takes(string(key)) {
				return fields{}, fmt.Errorf("%s", unknownKey(string(key)))
			}
		}
		return fields{parts: v.Pairs()}, nil
	}
	return fields{}, fmt.Errorf("%s where a string or an object is wanted", value.KindOf(v))
}

func (f *fields) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// value returns a part, nil if it is not there.
func (f *fields) value(key string) value.Value {
	for _, p := range f.parts {
		if k, _ := p.Key.(value.String); string(k) == key {
			return p.Value
		}
	}
	return nil
}

// text returns an optional string; if it is there it must say something.
func (f *fields) text(key string) string {
	v := f.value(key)
	if v == nil {
		return ""
	}
	s, ok := v.(value.String)
	if !ok {
		f.fail("%s is %s where a string is wanted", key, value.KindOf(v))
		return ""
	}
	if strings.TrimSpace(string(s)) == "" {
		f.fail("%s is empty", key)
	}
	return string(s)
}

func (f *fields) required(key string) string {
	if f.value(key) == nil {
		f.fail("%s is missing", key)
	}
	return f.text(key)
}

// span returns an optional span. Null is what facts hold for words that do not
// stand in the text, so it means none.
func (f *fields) span(key string) *hook.Span {
	v := f.value(key)
	if _, null := v.(value.Null); v == nil || null {
		return nil
	}
	s, err := spanOf(v)
	if err != nil {
		f.fail("%s %w", key, err)
		return nil
	}
	return &s
}

func spanOf(v value.Value) (hook.Span, error) {
	a, ok := v.(*value.Array)
	if !ok || a.Len() != 2 {
		return hook.Span{}, fmt.Errorf("is not [from, to]")
	}
	var s hook.Span
	for i := range s {
		n, ok := value.AsInt(a.At(i))
		if !ok || n < 0 {
			return s, fmt.Errorf("is not [from, to]")
		}
		s[i] = int(n)
	}
	if s[1] < s[0] {
		return s, fmt.Errorf("ends before it begins")
	}
	return s, nil
}
