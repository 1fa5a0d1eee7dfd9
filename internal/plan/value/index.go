package value

import "hash/maphash"

// fewElements is how many keys are looked through one by one.
const fewElements = 8

// An index finds the place of a value among many that are not in order. Its
// seed is its own, so that nobody can write keys that all fall into one place.
type index struct {
	seed  maphash.Seed
	slots []slot // a power of two, at most half of them used
	used  int
}

// A slot holds the place of a value plus one; 0 is free.
type slot struct {
	hash  uint32
	place int32
}

func newIndex(n int) *index {
	size := 32
	for size < 2*n {
		size *= 2
	}
	return &index{seed: maphash.MakeSeed(), slots: make([]slot, size)}
}

// add notes the place of a value that is not there yet.
func (x *index) add(v Value, place int) {
	if x.used++; 2*x.used > len(x.slots) {
		old := x.slots
		x.slots = make([]slot, 2*len(old))
		for _, s := range old {
			if s.place > 0 {
				x.put(s)
			}
		}
	}
	x.put(slot{hash(x.seed, v), int32(place) + 1})
}

func (x *index) put(s slot) {
	mask := uint32(len(x.slots) - 1)
	at := s.hash & mask
	for x.slots[at].place > 0 {
		at = (at + 1) & mask
	}
	x.slots[at] = s
}

// find returns the place of v, -1 if it has none.
func (x *index) find(v Value, at func(int) Value) int {
	h := hash(x.seed, v)
	mask := uint32(len(x.slots) - 1)
	for i := h & mask; x.slots[i].place > 0; i = (i + 1) & mask {
		if s := x.slots[i]; s.hash == h && Equal(at(int(s.place)-1), v) {
			return int(s.place) - 1
		}
	}
	return -1
}

// hash is the same for equal values.
func hash(seed maphash.Seed, v Value) uint32 {
	switch v := v.(type) {
	case Bool:
		if v {
			return 2
		}
		return 1
	case Int:
		return fold(maphash.Comparable(seed, float64(v)))
	case Decimal:
		return fold(maphash.Comparable(seed, nearest(v)))
	case String:
		return fold(maphash.String(seed, string(v)))
	case *Array:
		h := uint32(3)
		for _, e := range v.elems {
			h = h*31 + hash(seed, e)
		}
		return h
	case *Set:
		h := uint32(5) // a sum, since order means nothing
		for _, e := range v.elems {
			h += hash(seed, e)
		}
		return h
	case *Object:
		h := uint32(7)
		for _, p := range v.Pairs() {
			h += hash(seed, p.Key)*31 + hash(seed, p.Value)
		}
		return h
	}
	return 0
}

func fold(h uint64) uint32 { return uint32(h) ^ uint32(h>>32) }
