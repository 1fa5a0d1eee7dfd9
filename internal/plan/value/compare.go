package value

import (
	"cmp"
	"slices"
	"strings"
)

// Compare returns a negative number, zero or a positive one as a comes before b,
// is equal to it or comes after it. The order is OPA's: null, booleans, numbers,
// strings, arrays, objects, sets. Its cost is bounded by the smaller [Weight].
func Compare(a, b Value) int {
	switch a := a.(type) {
	case String:
		if b, ok := b.(String); ok {
			return strings.Compare(string(a), string(b))
		}
	case Int:
		if b, ok := b.(Int); ok {
			return cmp.Compare(a, b)
		}
	}
	if ka, kb := a.kind(), b.kind(); ka != kb {
		return int(ka) - int(kb)
	}
	switch a := a.(type) {
	case Bool:
		b := b.(Bool)
		switch {
		case a == b:
			return 0
		case bool(a):
			return 1
		}
		return -1
	case Int, Decimal:
		return compareNumbers(a, b)
	case *Array:
		b := b.(*Array)
		if a == b {
			return 0
		}
		return slices.CompareFunc(a.elems, b.elems, Compare)
	case *Set:
		b := b.(*Set)
		if a == b {
			return 0
		}
		return slices.CompareFunc(a.Elems(), b.Elems(), Compare)
	case *Object:
		b := b.(*Object)
		if a == b {
			return 0
		}
		return slices.CompareFunc(a.Pairs(), b.Pairs(), comparePairs)
	}
	return 0
}

func comparePairs(a, b Pair) int {
	if c := Compare(a.Key, b.Key); c != 0 {
		return c
	}
	return Compare(a.Value, b.Value)
}

// Equal reports whether a and b are the same value: 1 and 1.0 are.
func Equal(a, b Value) bool {
	switch a := a.(type) {
	case String:
		b, ok := b.(String)
		return ok && a == b
	case Int:
		if b, ok := b.(Int); ok {
			return a == b
		}
	case Bool:
		b, ok := b.(Bool)
		return ok && a == b
	case *Array:
		b, ok := b.(*Array)
		return ok && (a == b || slices.EqualFunc(a.elems, b.elems, Equal))
	case *Set:
		if b, ok := b.(*Set); !ok || len(a.elems) != len(b.elems) {
			return false
		}
	case *Object:
		if b, ok := b.(*Object); !ok || a.Len() != b.Len() {
			return false
		}
	}
	return Compare(a, b) == 0
}
