package value

import (
	"maps"
	"slices"
)

// Later is a part of a tree for [Lazy] that is worked out when it is read. It
// must have no types that [From] does not know.
type Later func() map[string]any

// Lazy is [From] for a tree of which little will be read: what the objects in it
// hold is converted when somebody looks. The tree must not be changed any more,
// and the result is for one goroutine.
func Lazy(tree map[string]any) (*Object, error) {
	if err := check(tree); err != nil {
		return nil, err
	}
	return lazy(tree), nil
}

// check reports what in a tree cannot be converted.
func check(x any) error {
	switch x := x.(type) {
	case nil, bool, string, int, int64, []string, map[string]string, Later:
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

// lazy converts a tree that was checked.
func lazy(tree map[string]any) *Object {
	o := &Object{later: tree, ordered: true, unsure: true}
	o.frozen = true
	return o
}

// load makes the pairs that are still to be made.
func (o *Object) load() {
	if o.later != nil {
		o.fill()
	}
}

func (o *Object) fill() {
	tree := o.later
	keys := make([]string, 0, len(tree))
	keys = slices.AppendSeq(keys, maps.Keys(tree))
	slices.Sort(keys)
	o.pairs = make([]Pair, len(keys))
	for i, k := range keys {
		o.pairs[i] = Pair{String(k), later(tree[k])}
	}
	o.later = nil
}

// later converts what was checked; it panics for what a Later should not hold.
func later(x any) Value {
	switch x := x.(type) {
	case map[string]any:
		return lazy(x)
	case Later:
		return lazy(x())
	case []any:
		a := &Array{elems: make([]Value, len(x)), unsure: true}
		for i, e := range x {
			a.elems[i] = later(e)
		}
		a.frozen = true
		return a
	}
	v, err := From(x)
	if err != nil {
		panic(err)
	}
	return v
}
