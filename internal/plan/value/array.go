package value

// An Array is an array. The zero value is empty and ready to use.
type Array struct {
	elems  []Value
	weight int
	unsure bool // weight is still to be taken
	state
}

// NewArray returns an array of elems, which it keeps.
func NewArray(elems ...Value) *Array {
	a := &Array{elems: elems}
	for _, e := range elems {
		hold(e)
		a.weight = addWeight(a.weight, Weight(e))
	}
	return a
}

// Len returns the number of elements.
func (a *Array) Len() int { return len(a.elems) }

// At returns element i, which must exist.
func (a *Array) At(i int) Value { return a.elems[i] }

// Get returns the element at a position given as a value, nil if there is none.
func (a *Array) Get(at Value) Value {
	if i, ok := AsInt(at); ok && i >= 0 && i < int64(len(a.elems)) {
		return a.elems[i]
	}
	return nil
}

// Elems returns the elements. They must not be changed.
func (a *Array) Elems() []Value { return a.elems }

// Append adds an element at the end.
func (a *Array) Append(v Value) {
	hold(v)
	a.elems = append(a.elems, v)
	a.weight = addWeight(a.weight, Weight(v))
}

// weigh returns the weight of what is in the array.
func (a *Array) weigh() int {
	if a.unsure {
		a.unsure, a.weight = false, 0
		for _, e := range a.elems {
			a.weight = addWeight(a.weight, Weight(e))
		}
	}
	return a.weight
}
