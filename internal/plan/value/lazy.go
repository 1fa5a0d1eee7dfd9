package value

import (
	"maps"
	"slices"
)

// A Source is what the pairs of a [Deferred] object are made of.
type Source interface {
	// Pairs returns them in the order of keys, no key twice. It is called once at
	// most, and what they hold must not be changed any more.
	Pairs() []Pair
}

// Deferred is an object whose pairs are made when somebody looks. It is for one
// goroutine.
func Deferred(of Source) *Object {
	o := &Object{later: of, ordered: true, unsure: true}
	o.frozen = true
	return o
}

// List is an array of elems, which it keeps and which must not be changed any more.
func List(elems []Value) *Array {
	a := &Array{elems: elems, unsure: true}
	a.frozen = true
	return a
}

// Lazy is [From] for a tree of which little will be read: what the objects in it
// hold is converted when somebody looks. A part of it may be a [Value] already. The tree must not be changed any more,
// and the result is for one goroutine.
func Lazy(tree map[string]any) (*Object, error) {
	if err := check(tree); err != nil {
		return nil, err
	}
	return Deferred(object(tree)), nil
}

// check reports what in a tree cannot be converted.
func check(x any) error {
	switch x := x.(type) {
	case nil, bool, string, int, int64, []string, map[string]string, Value:
		return nil
	case []any:
		for _, e := range x {
			if err := check(e); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		for _, e := range x {
			if err := check(e); err != nil {
				return err
			}
		}
		return nil
	}
	_, err := From(x)
	return err
}

// An object is an object of a tree that was checked.
type object map[string]any

func (tree object) Pairs() []Pair {
	keys := make([]string, 0, len(tree))
	keys = slices.AppendSeq(keys, maps.Keys(tree))
	slices.Sort(keys)
	pairs := make([]Pair, len(keys))
	for i, k := range keys {
		pairs[i] = Pair{String(k), later(tree[k])}
	}
	return pairs
}

// load makes the pairs that are still to be made.
func (o *Object) load() {
	if o.later != nil {
		o.fill()
	}
}

func (o *Object) fill() {
	o.pairs = o.later.Pairs()
	o.later = nil
}

// later converts what was checked; it panics for what was not.
func later(x any) Value {
	switch x := x.(type) {
	case map[string]any:
		return Deferred(object(x))
	case Value:
		return x
	case []any:
		elems := make([]Value, len(x))
		for i, e := range x {
			elems[i] = later(e)
		}
		return List(elems)
	}
	v, err := From(x)
	if err != nil {
		panic(err)
	}
	return v
}
