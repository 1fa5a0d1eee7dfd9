package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Param is a typed setting of a policy, read at data.gate.params.<package>.
type Param struct {
	Type        string // JSON Schema's simple types: string, number, boolean, array, object
	Default     any
	Description string

	// Values are what a string may be, and each element of an array; none: any.
	Values []string
}

// Check says why v, a decoded value, cannot be the parameter's: it has another
// type, there is none, or it is not among the values that are allowed.
func (p Param) Check(v any) error {
	if v == nil {
		return errors.New("no value and no default")
	}
	if got := typeOf(v); p.Type != got {
		return errors.New(got + " where " + p.Type + " is wanted")
	}
	if len(p.Values) == 0 {
		return nil
	}
	switch v := v.(type) {
	case string:
		return p.allows(v)
	case []string:
		for _, one := range v {
			if err := p.allows(one); err != nil {
				return err
			}
		}
	case []any:
		for _, one := range v {
			if err := p.allows(one); err != nil {
				return err
			}
		}
	}
	return nil
}

// allows says why v, or an element of it, is none of the allowed values.
func (p Param) allows(v any) error {
	text, ok := v.(string)
	switch {
	case !ok:
		return errors.New(typeOf(v) + " where a text is wanted: " + strings.Join(p.Values, ", "))
	case !slices.Contains(p.Values, text):
		return fmt.Errorf("%q is none of the values that it knows: %s", text, strings.Join(p.Values, ", "))
	}
	return nil
}

// typeOf names the JSON Schema type of a decoded value that is not null.
func typeOf(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number, float64, int, int64, uint64:
		return "number"
	case []any, []string:
		return "array"
	case map[string]any:
		return "object"
	}
	return "no JSON"
}
