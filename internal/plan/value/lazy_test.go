package value_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"gate/internal/plan/value"
)

// tree makes a tree as decoding JSON does.
func tree(r *rand.Rand, depth int) any {
	kinds := 9
	if depth == 0 {
		kinds = 6
	}
	switch r.IntN(kinds) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return json.Number(numbers[r.IntN(len(numbers))])
	case 3:
		return r.IntN(5)
	case 4:
		return []string{"x", "y"}[:r.IntN(3)]
	case 5:
		return texts[r.IntN(len(texts))]
	case 6:
		list := make([]any, size(r))
		for i := range list {
			list[i] = tree(r, depth-1)
		}
		return list
	}
	return object(r, depth)
}

func object(r *rand.Rand, depth int) map[string]any {
	m := map[string]any{}
	for range size(r) {
		m[texts[r.IntN(len(texts))]] = tree(r, depth-1)
	}
	return m
}

// TestLazy reads the same tree, converted at once and later, in different ways
// first.
func TestLazy(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for range 5000 {
		m := object(r, 4)
		at := map[string]any{"tree": m, "other": "x"}
		whole, err := value.From(at)
		if err != nil {
			t.Fatal(err)
		}
		if r.IntN(2) == 0 {
			at = map[string]any{"tree": whole.(*value.Object).Get(value.String("tree")), "other": "x"}
		}
		later, err := value.Lazy(at)
		if err != nil {
			t.Fatal(err)
		}
		same := true
		switch r.IntN(6) {
		case 0:
			same = value.Weight(later) == value.Weight(whole)
		case 1:
			same = value.Equal(whole, later)
		case 2:
			same = value.Equal(later, whole)
		case 3:
			same = later.Len() == 2 && value.Equal(later.Get(value.String("tree")), whole.(*value.Object).Get(value.String("tree")))
		case 4:
			same = value.NewSet(whole, value.Null{}).Has(later)
		case 5:
			same = value.NewArray(later).Get(value.Int(0)) == value.Value(later)
		}
		if !same || value.Text(later) != value.Text(whole) || value.Weight(later) != value.Weight(whole) || value.Compare(later, whole) != 0 {
			t.Fatalf("%s\n%s, weight %d and %d", value.Text(whole), value.Text(later), value.Weight(whole), value.Weight(later))
		}
	}
}

// TestLazyUnknown has trees that cannot be converted.
func TestLazyUnknown(t *testing.T) {
	for _, x := range []any{make(chan int), []any{json.Number("x")}, map[string]any{"a": []any{struct{}{}}}} {
		if _, err := value.Lazy(map[string]any{"a": x}); err == nil {
			t.Errorf("%T", x)
		}
	}
}
