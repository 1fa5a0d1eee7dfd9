package verdict

import (
	"encoding/json"

	"gate/internal/plan/value"
)

// maxInput bounds the weight of what a modify rule puts in place of an input.
const maxInput = 1 << 20

// plain returns a value as decoding its JSON would: numbers keep their text, sets
// are lists.
func plain(v value.Value) any {
	switch v := v.(type) {
	case value.Bool:
		return bool(v)
	case value.Int, value.Decimal:
		return json.Number(value.NumberText(v))
	case value.String:
		return string(v)
	case *value.Array:
		return plainList(v.Elems())
	case *value.Set:
		return plainList(v.Elems())
	case *value.Object:
		return document(v)
	}
	return nil
}

func plainList(list []value.Value) []any {
	all := make([]any, 0, len(list))
	for _, v := range list {
		all = append(all, plain(v))
	}
	return all
}

// document returns an object; keys that are no strings become their JSON.
func document(o *value.Object) map[string]any {
	m := make(map[string]any, o.Len())
	for _, p := range o.Pairs() {
		key, ok := p.Key.(value.String)
		if !ok {
			key = value.String(value.AppendJSON(nil, p.Key))
		}
		m[string(key)] = plain(p.Value)
	}
	return m
}
