package shell

import (
	"strconv"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/flow"
)

// assign performs an assignment in s and returns its value.
func (w *Shell) assign(s *state, a *syntax.Assign) flow.Word {
	if a.Name == nil {
		return w.word(s, a.Value)
	}
	name := a.Name.Value
	switch {
	case a.Array != nil:
		v := w.array(s, a)
		s.replace(name, v)
		return flow.Join(v.list)
	case a.Naked:
		if _, ok := s.vars[name]; !ok && a.Value == nil {
			return flow.Word{}
		}
		return s.vars[name].first()
	}
	return w.assignTo(s, a, w.assigned(s, a.Value))
}

// assignTo assigns a value to a variable or to an element.
func (w *Shell) assignTo(s *state, a *syntax.Assign, f flow.Word) flow.Word {
	name := a.Name.Value
	if s.vars[s.target(name)].integer {
		w.evaluatedLater(s, f)
	}
	switch {
	case a.Index != nil:
		w.setElement(s, name, a, f)
	case a.Append:
		x := expander{Shell: w, state: s}
		old, set := x.scalar(name)
		if !set && old.Literal() {
			old = flow.Literal("")
		}
		f = w.bounded(flow.Append(old, f))
		s.set(name, f)
	default:
		s.set(name, f)
	}
	return f
}

// array reads the elements of NAME=(…).
func (w *Shell) array(s *state, a *syntax.Assign) variable {
	old := s.keyed(a.Name.Value)
	v := variable{array: true, words: old.words}
	if v.words {
		v.keys = []string{}
	}
	if a.Append {
		switch {
		case old.array:
			v.list, v.keys = append(v.list, old.list...), append(v.keys, old.keys...)
		case len(old.value.Parts) > 0 && !old.unset:
			v.list = append(v.list, old.value)
		}
	}
	bare := true
	for _, e := range a.Array.Elems {
		bare = bare && e.Index == nil
	}
	if v.words && bare { // declare -A M=(key value …)
		return w.pairs(s, v, a.Array.Elems)
	}
	for _, e := range a.Array.Elems {
		if len(v.list) > maxWords {
			w.Limit("more elements of an array than gate follows")
			return unknownArray()
		}
		switch {
		case e.Index != nil:
			key, ok := w.key(s, v, e.Index)
			f := w.word(s, e.Value)
			if !ok {
				return unknownArray()
			}
			v = v.with(key, f)
		case e.Value != nil:
			more := w.fields(s, e.Value)
			if v.keys == nil {
				v.list = append(v.list[:len(v.list):len(v.list)], more...)
				continue
			}
			for _, f := range more {
				v = v.next(f)
			}
		}
	}
	if len(v.list) > maxWords {
		w.Limit("more elements of an array than gate follows")
		return unknownArray()
	}
	return v
}

func (w *Shell) pairs(s *state, v variable, elems []*syntax.ArrayElem) variable {
	var words []flow.Word
	for _, e := range elems {
		words = append(words, w.fields(s, e.Value)...)
	}
	for i := 0; i < len(words); i += 2 {
		key, f := words[i].Value(), flow.Literal("")
		if i+1 < len(words) {
			f = words[i+1]
		}
		if key == nil {
			return unknownArray()
		}
		v = v.with(*key, f)
	}
	return v
}

// next is the array with one more element after its last.
func (v variable) next(f flow.Word) variable {
	if len(v.keys) == 0 {
		if v.keys != nil {
			return v.with("0", f)
		}
		v.list = append(v.list[:len(v.list):len(v.list)], f)
		return v
	}
	return v.with(strconv.Itoa(toInt(v.keys[len(v.keys)-1])+1), f)
}

// key evaluates a subscript: a word where keys are words, else arithmetic.
func (w *Shell) key(s *state, v variable, index syntax.ArithmExpr) (string, bool) {
	if word, ok := index.(*syntax.Word); ok && v.words {
		key := w.word(s, word).Value()
		if key == nil {
			return "", false
		}
		return *key, true
	}
	x := expander{Shell: w, state: s}
	i, ok := x.integer(index)
	if ok && i < 0 && v.keys == nil {
		i += len(v.list)
	}
	return strconv.Itoa(i), ok && i >= 0
}

// setElement performs a[i]=v for a literal i; else the array is not known.
func (w *Shell) setElement(s *state, name string, a *syntax.Assign, f flow.Word) {
	v := s.keyed(name)
	key, ok := w.key(s, v, a.Index)
	switch {
	case !ok:
		s.replace(name, unknownArray())
	case a.Append:
		s.replace(name, v.with(key, flow.Append(v.element(key), f)))
	default:
		s.replace(name, v.with(key, v.shaped(f)))
	}
}
