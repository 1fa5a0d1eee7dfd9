package value

// A state says whether an array, a set or an object may still be changed.
type state struct {
	frozen bool // never again
	held   bool // it is in another
}

func (s *state) of() *state { return s }

// hold notes that v is in another value.
func hold(v Value) {
	if c, ok := v.(interface{ of() *state }); ok {
		if s := c.of(); !s.frozen && !s.held {
			s.held = true
		}
	}
}

// Hold notes for each of list that it may be in a value that was made of it.
func Hold(list []Value) {
	for _, v := range list {
		hold(v)
	}
}

// Freeze puts everything in v in order, so that reading changes nothing any
// more and v may be read by several goroutines. It returns v.
func Freeze(v Value) Value {
	c, ok := v.(interface{ of() *state })
	if !ok || c.of().frozen {
		return v
	}
	switch v := v.(type) {
	case *Array:
		for _, e := range v.elems {
			Freeze(e)
		}
	case *Set:
		for _, e := range v.Elems() {
			Freeze(e)
		}
	case *Object:
		for _, p := range v.Pairs() {
			Freeze(p.Key)
			Freeze(p.Value)
		}
		v.weigh()
	}
	c.of().frozen = true
	return v
}

// MayHold reports whether v may be put into c: c is not frozen, and would not
// come to be in itself. Held is true if c is in another value already, which
// does not know that c grows.
func MayHold(c, v Value) (may, held bool) {
	into, ok := c.(interface{ of() *state })
	if !ok || into.of().frozen || c == v {
		return false, false
	}
	if !into.of().held {
		return true, false
	}
	return !within(c, v), true
}

// within reports whether c is in v.
func within(c, v Value) bool {
	if c == v {
		return true
	}
	switch v := v.(type) {
	case *Array:
		for _, e := range v.elems {
			if within(c, e) {
				return true
			}
		}
	case *Set:
		for _, e := range v.elems {
			if within(c, e) {
				return true
			}
		}
	case *Object:
		for _, p := range v.pairs {
			if within(c, p.Key) || within(c, p.Value) {
				return true
			}
		}
	}
	return false
}
