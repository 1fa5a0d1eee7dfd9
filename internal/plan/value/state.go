package value

// A state says whether an array, a set or an object may still be changed.
type state struct {
	frozen bool // never again
	held   bool // it is in another
}

// stateOf returns the state of an array, a set or an object, nil for what never
// changes.
func stateOf(v Value) *state {
	switch v := v.(type) {
	case *Array:
		return &v.state
	case *Set:
		return &v.state
	case *Object:
		return &v.state
	}
	return nil
}

// hold notes that v is in another value.
func hold(v Value) {
	if s := stateOf(v); s != nil && !s.frozen && !s.held {
		s.held = true
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
	s := stateOf(v)
	if s == nil || s.frozen {
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
	s.frozen = true
	return v
}

// MayHold reports whether v may be put into c: c is not frozen, and would not
// come to be in itself. Held is true if c is in another value already, which
// does not know that c grows.
func MayHold(c, v Value) (may, held bool) {
	into := stateOf(c)
	if into == nil || into.frozen || c == v {
		return false, false
	}
	if !into.held {
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
