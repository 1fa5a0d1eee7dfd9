package value

import (
	"slices"
	"sort"
)

// A Set is a set. The zero value is empty and ready to use.
type Set struct {
	elems   []Value
	ordered bool // elems are; always so for less than two
	index   *index
	weight  int
	state
}

// NewSet returns a set of elems.
func NewSet(elems ...Value) *Set {
	s := &Set{elems: make([]Value, 0, len(elems))}
	for _, e := range elems {
		s.Add(e)
	}
	return s
}

// OrderedSet returns a set of elems, which it keeps. They must be in order, and no
// two equal.
func OrderedSet(elems []Value) *Set {
	s := &Set{elems: elems, ordered: true}
	for _, e := range elems {
		hold(e)
		s.weight = addWeight(s.weight, Weight(e))
	}
	return s
}

// Len returns the number of elements.
func (s *Set) Len() int { return len(s.elems) }

// Has reports whether v is in the set.
func (s *Set) Has(v Value) bool { return s.find(v) >= 0 }

// Get returns the element that is equal to v, nil if there is none. It may be
// written differently: {1.0} has 1.
func (s *Set) Get(v Value) Value {
	if i := s.find(v); i >= 0 {
		return s.elems[i]
	}
	return nil
}

// Elems returns the elements in order. They must not be changed.
func (s *Set) Elems() []Value {
	if !s.ordered && len(s.elems) > 1 {
		slices.SortFunc(s.elems, Compare)
		s.index = nil
	}
	s.ordered = true
	return s.elems
}

// Add puts v in and reports whether it was new.
func (s *Set) Add(v Value) bool {
	n := len(s.elems)
	switch {
	case n == 0:
		s.ordered = true
	case s.ordered && Compare(s.elems[n-1], v) < 0:
	case s.find(v) >= 0:
		return false
	default:
		s.ordered = false
	}
	hold(v)
	s.elems = append(s.elems, v)
	s.weight = addWeight(s.weight, Weight(v))
	if !s.ordered && len(s.elems) > fewElements {
		s.indexed()
	}
	return true
}

// Clone returns a copy that can be changed; its elements are the same.
func (s *Set) Clone() *Set {
	return &Set{elems: slices.Clone(s.Elems()), ordered: true, weight: s.weight}
}

// indexed keeps the index of a set that is out of order up to date.
func (s *Set) indexed() {
	if s.index == nil {
		s.index = newIndex(len(s.elems))
		for i, e := range s.elems {
			s.index.add(e, i)
		}
		return
	}
	n := len(s.elems) - 1
	s.index.add(s.elems[n], n)
}

// find returns the place of v, -1 if it has none.
func (s *Set) find(v Value) int {
	switch {
	case len(s.elems) <= fewElements:
		return slices.IndexFunc(s.elems, func(e Value) bool { return Equal(e, v) })
	case s.index != nil:
		return s.index.find(v, func(i int) Value { return s.elems[i] })
	}
	elems := s.Elems()
	i, found := sort.Find(len(elems), func(i int) int { return Compare(v, elems[i]) })
	if !found {
		return -1
	}
	return i
}
