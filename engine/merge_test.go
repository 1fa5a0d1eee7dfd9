package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gate/internal/strictjson"
)

func decode(t *testing.T, text string) any {
	t.Helper()
	v, err := strictjson.Decode([]byte(text), strictjson.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The examples of RFC 7386, appendix A, whose patch is an object.
func TestMerge(t *testing.T) {
	for _, row := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		target, patch := decode(t, row[0]), decode(t, row[1]).(map[string]any)
		if got := merge(target, patch); !equal(got, decode(t, row[2])) {
			t.Errorf("%s with %s: %s, want %s", row[0], row[1], strictjson.Append(nil, got), row[2])
		}
		if !equal(target, decode(t, row[0])) || !equal(patch, decode(t, row[1])) {
			t.Errorf("%s with %s: an argument was changed", row[0], row[1])
		}
	}
}

func randomPatch(r *rand.Rand, depth int) map[string]any {
	p := map[string]any{}
	for range r.IntN(4) {
		key := string(rune('a' + r.IntN(4)))
		switch n := r.IntN(5); {
		case n == 0 && depth > 0:
			p[key] = randomPatch(r, depth-1)
		case n == 1:
			p[key] = nil
		case n == 2:
			p[key] = []any{fmt.Sprint(r.IntN(2))}
		default:
			p[key] = fmt.Sprint(r.IntN(2))
		}
	}
	return p
}

// Two patches that go together do the same in either order and at once; two
// that do not are found whichever comes first.
func TestUnion(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	together := 0
	for range 20_000 {
		a, b, target := randomPatch(r, 2), randomPatch(r, 2), randomPatch(r, 2)
		ab, path, ok := union(a, b, "")
		ba, _, ok2 := union(b, a, "")
		if ok != ok2 || !ok && path == "" {
			t.Fatalf("%v and %v: %v one way, %v the other, path %q", a, b, ok, ok2, path)
		}
		if !ok {
			continue
		}
		together++
		at := merge(target, ab)
		if !equal(ab, ba) || !equal(at, merge(merge(target, a), b)) || !equal(at, merge(merge(target, b), a)) {
			t.Fatalf("%v and %v on %v", a, b, target)
		}
	}
	if together < 1000 {
		t.Errorf("only %d pairs went together", together)
	}
}
