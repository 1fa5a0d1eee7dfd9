package value

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// From converts a tree of maps with string keys, slices, strings, numbers, bools
// and nil, as decoding JSON makes it. Types that it does not know are an error.
// The result is frozen.
func From(x any) (Value, error) {
	switch x := x.(type) {
	case nil:
		return Null{}, nil
	case bool:
		return Bool(x), nil
	case string:
		return String(x), nil
	case int:
		return Int(x), nil
	case int64:
		return Int(x), nil
	case uint64:
		return Number(strconv.FormatUint(x, 10))
	case float64:
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return nil, errNoNumber
		}
		return ofFloat(x), nil
	case []any:
		return fromList(x, From)
	case []string:
		return fromList(x, fromString)
	case map[string]any:
		return fromMap(x, From)
	case map[string]string:
		return fromMap(x, fromString)
	case interface { // encoding/json's Number
		Int64() (int64, error)
		Float64() (float64, error)
		String() string
	}:
		return Number(x.String())
	}
	return nil, fmt.Errorf("%T cannot become a value", x)
}

func fromString(s string) (Value, error) { return String(s), nil }

func fromList[T any](list []T, from func(T) (Value, error)) (Value, error) {
	a := &Array{elems: make([]Value, 0, len(list))}
	for _, x := range list {
		v, err := from(x)
		if err != nil {
			return nil, err
		}
		a.Append(v)
	}
	a.frozen = true
	return a, nil
}

func fromMap[T any](m map[string]T, from func(T) (Value, error)) (Value, error) {
	pairs := make([]Pair, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		v, err := from(m[k])
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, Pair{String(k), v})
	}
	o := OrderedObject(pairs)
	o.weigh()
	o.frozen = true
	return o, nil
}
