package value

import (
	"slices"
	"sort"
)

// A Pair is a key of an object and what it holds.
type Pair struct{ Key, Value Value }

// An Object is an object, whose keys are values of any kind. The zero value is
// empty and ready to use.
type Object struct {
	pairs   []Pair
	ordered bool // by key; always so for less than two
	index   *index
	weight  int
	unsure  bool   // a value has grown since weight was taken
	later   Source // what the pairs are still to be made of, see Deferred
	state
}

// NewObject returns an object of pairs; of equal keys the last value counts.
func NewObject(pairs ...Pair) *Object {
	o := &Object{pairs: make([]Pair, 0, len(pairs))}
	for _, p := range pairs {
		o.Insert(p.Key, p.Value)
	}
	return o
}

// OrderedObject returns an object of pairs, which it keeps. Their keys must be in
// order, and no two equal.
func OrderedObject(pairs []Pair) *Object {
	for _, p := range pairs {
		hold(p.Key)
		hold(p.Value)
	}
	return &Object{pairs: pairs, ordered: true, unsure: true}
}

// Len returns the number of keys.
func (o *Object) Len() int {
	o.load()
	return len(o.pairs)
}

// Get returns what a key holds, nil if the object does not have it.
func (o *Object) Get(key Value) Value {
	if i := o.find(key); i >= 0 {
		return o.pairs[i].Value
	}
	return nil
}

// Pairs returns keys and values in the order of keys. They must not be changed.
func (o *Object) Pairs() []Pair {
	o.load()
	if !o.ordered && len(o.pairs) > 1 {
		slices.SortFunc(o.pairs, func(a, b Pair) int { return Compare(a.Key, b.Key) })
		o.index = nil
	}
	o.ordered = true
	return o.pairs
}

// Insert puts a value under a key, in place of what the key held. A value that
// has grown since is inserted again, so that the object knows its weight.
func (o *Object) Insert(key, v Value) {
	hold(key)
	hold(v)
	n := len(o.pairs)
	switch {
	case n == 0:
		o.ordered = true
	case o.ordered && Compare(o.pairs[n-1].Key, key) < 0:
	default:
		if i := o.find(key); i >= 0 {
			if o.pairs[i].Value == v {
				o.unsure = true
				return
			}
			o.weight = addWeight(max(0, o.weight-Weight(o.pairs[i].Value)), Weight(v))
			o.pairs[i].Value = v
			return
		}
		o.ordered = false
	}
	o.pairs = append(o.pairs, Pair{key, v})
	o.weight = addWeight(o.weight, addWeight(Weight(key), Weight(v)))
	if !o.ordered && len(o.pairs) > fewElements {
		o.indexed()
	}
}

// Clone returns a copy that can be changed; keys and values are the same.
func (o *Object) Clone() *Object {
	return &Object{pairs: slices.Clone(o.Pairs()), ordered: true, weight: o.weigh()}
}

// weigh returns the weight of what is in the object.
func (o *Object) weigh() int {
	if o.unsure {
		o.unsure, o.weight = false, 0
		for _, p := range o.Pairs() {
			o.weight = addWeight(o.weight, addWeight(Weight(p.Key), Weight(p.Value)))
		}
	}
	return o.weight
}

// indexed keeps the index of an object that is out of order up to date.
func (o *Object) indexed() {
	if o.index == nil {
		o.index = newIndex(len(o.pairs))
		for i, p := range o.pairs {
			o.index.add(p.Key, i)
		}
		return
	}
	n := len(o.pairs) - 1
	o.index.add(o.pairs[n].Key, n)
}

// find returns the place of a key, -1 if it has none.
func (o *Object) find(key Value) int {
	o.load()
	switch {
	case len(o.pairs) <= fewElements:
		for i := range o.pairs {
			if Equal(o.pairs[i].Key, key) {
				return i
			}
		}
		return -1
	case o.index != nil:
		return o.index.find(key, func(i int) Value { return o.pairs[i].Key })
	}
	pairs := o.Pairs()
	i, found := sort.Find(len(pairs), func(i int) int { return Compare(key, pairs[i].Key) })
	if !found {
		return -1
	}
	return i
}
