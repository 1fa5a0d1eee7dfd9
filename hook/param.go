package hook

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A Param is a typed setting of a policy, read at data.gate.params.<package>.
type Param struct {
	Type        string // JSON Schema's simple types: string, number, boolean, array, object
	Default     any
	Description string
}

// Check says why v, a decoded value, cannot be the parameter's: it has another
// type, or there is none.
func (p Param) Check(v any) error {
	got := typeOf(v)
	switch {
	case v == nil:
		return errors.New("no value and no default")
	case p.Type != got:
		return fmt.Errorf("%s where %s is wanted", got, p.Type)
	}
	return nil
}

// typeOf names the JSON Schema type of a decoded value.
func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
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
	return fmt.Sprintf("%T", v)
}
