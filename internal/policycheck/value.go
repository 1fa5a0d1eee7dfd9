package policycheck

import (
	"maps"
	"slices"
)

// A value is the shapes that something may have. None at all means that it
// never exists.
type value []*shape

var anything = value{{}}

// maxShapes bounds what is told apart; beyond it a value may be anything.
const maxShapes = 400

// of returns the shapes of a value that has shape s.
func of(s *shape) value {
	switch {
	case s == nil:
		return anything
	case len(s.union) == 0:
		return value{s}
	}
	var v value
	for _, u := range s.union {
		if v = append(v, of(u)...); len(v) > maxShapes {
			return anything
		}
	}
	return v
}

func (v value) any() bool { return slices.ContainsFunc(v, (*shape).any) }

// and returns what is v or w.
func (v value) and(w value) value {
	switch {
	case len(w) == 0 && len(v) <= maxShapes:
		return slices.Clip(v)
	case len(v) == 0 && len(w) == 1:
		return slices.Clip(w)
	}
	out := slices.Clone(v)
	for _, s := range w {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if len(out) > maxShapes {
		return anything
	}
	return out
}

// field returns what a field of an object may be.
func (v value) field(name string) value {
	var out value
	for _, s := range v {
		switch {
		case s.any():
			return anything
		case s.kinds&object == 0:
		case s.fields[name] != nil:
			out = out.and(of(s.fields[name]))
		case s.rest != nil:
			out = out.and(of(s.rest))
		}
	}
	return out
}

// elements returns what iterating over a value yields.
func (v value) elements() value {
	var out value
	for _, s := range v {
		switch {
		case s.any():
			return anything
		case s.kinds&(array|set) != 0:
			out = out.and(of(s.items))
		case s.kinds&object != 0 && s.rest != nil:
			out = out.and(of(s.rest))
		}
		if s.kinds&object != 0 {
			for _, name := range slices.Sorted(maps.Keys(s.fields)) {
				out = out.and(of(s.fields[name]))
			}
		}
	}
	return out
}

// only returns those shapes of v whose field may be one of allowed; v if none
// may.
func (v value) only(field string, allowed value) value {
	var out value
	if allowed.any() {
		return v
	}
	for _, s := range v {
		held := value{s}.field(field)
		switch {
		case s.any():
			out = append(out, s)
		case meets(held, allowed):
			if s.kinds&object != 0 && s.fields[field] != nil && !held.any() {
				s = s.with(field, both(held, allowed))
			}
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return v // it contradicts itself, which is reported where it does
	}
	return out
}

// narrow returns those shapes of v that have one of the types.
func (v value) narrow(k kinds) value {
	var out value
	for _, s := range v {
		switch {
		case s.any():
			out = append(out, s)
		case s.kinds&k != 0:
			c := *s
			c.kinds &= k
			out = append(out, &c)
		}
	}
	return out
}

// both returns the shapes of v that meet w.
func both(v, w value) value {
	var out value
	for _, s := range v {
		for _, t := range w {
			switch {
			case !s.meets(t):
			case t.kinds == text && t.enum != nil && s.enum == nil && s.kinds&text != 0 && t.param == nil:
				out = out.and(value{t})
			case s.enum != nil && t.enum != nil:
				c := *s
				c.enum = slices.DeleteFunc(slices.Clone(s.enum), func(e string) bool { return !slices.Contains(t.enum, e) })
				out = append(out, &c)
			default:
				out = out.and(value{s})
			}
		}
	}
	return out
}

// meets reports whether v and w may be equal.
func meets(v, w value) bool {
	return slices.ContainsFunc(v, func(s *shape) bool {
		return slices.ContainsFunc(w, func(t *shape) bool { return s.meets(t) })
	})
}

// kinds returns the types that a value may have; 0 if it may have any.
func (v value) kinds() kinds {
	var k kinds
	for _, s := range v {
		if s.any() {
			return 0
		}
		k |= s.kinds
	}
	return k
}

// texts returns the texts that v is limited to, and whether it is.
func (v value) texts() ([]string, bool) {
	var all []string
	for _, s := range v {
		if s.any() || s.kinds&text != 0 && s.enum == nil {
			return nil, false
		}
		for _, e := range s.enum {
			if !slices.Contains(all, e) {
				all = append(all, e)
			}
		}
	}
	return all, len(all) > 0
}

// known returns the texts that are known to occur in v.
func (v value) known() []string {
	var all []string
	for _, s := range v {
		for _, e := range slices.Concat(s.enum, s.known) {
			if !slices.Contains(all, e) {
				all = append(all, e)
			}
		}
	}
	return all
}

// hasField reports that one of the objects of v lists a field.
func (v value) hasField(name string) bool {
	return slices.ContainsFunc(v, func(s *shape) bool { _, found := s.fields[name]; return found })
}

// fieldNames returns the fields that v may have.
func (v value) fieldNames() []string {
	names := map[string]bool{}
	for _, s := range v {
		for name := range s.fields {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// closed reports that nothing but the known fields can be in v, and that v is
// no text or number, whose fields nobody means.
func (v value) closed() bool {
	for _, s := range v {
		if s.any() || s.kinds&object != 0 && s.rest != nil || s.kinds&(array|set) != 0 {
			return false
		}
	}
	return true
}

// titles returns what the objects of v describe.
func (v value) titles() []string {
	var all []string
	for _, s := range v {
		if s.title != "" && !slices.Contains(all, s.title) {
			all = append(all, s.title)
		}
	}
	slices.Sort(all)
	return all
}
