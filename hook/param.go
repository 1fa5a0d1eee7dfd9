package hook

import (
	"encoding/json"
	"errors"
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
	if v == nil {
		return errors.New("no value and no default")
	}
	if got := typeOf(v); p.Type != got {
		return errors.New(got + " where " + p.Type + " is wanted")
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
