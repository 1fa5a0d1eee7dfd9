package builtin

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gate/internal/plan/value"
)

// lookAt returns what is at a path.
func (p *patcher) lookAt(doc value.Value, path []value.Value) (value.Value, error) {
	for _, key := range path {
		next, err := p.stepInto(doc, key)
		if err != nil {
			return nil, err
		}
		doc = next
	}
	return doc, nil
}

// stepInto returns what v holds under one part of a path.
func (p *patcher) stepInto(v, key value.Value) (value.Value, error) {
	if a, ok := v.(*value.Array); ok {
		if p.shifted {
			return nil, &Halt{ErrUnsure}
		}
		i, err := indexIn(a, key)
		if err != nil {
			return nil, err
		}
		key = value.Int(i)
	}
	if v == nil {
		return nil, errDeleted
	}
	return found(v, key)
}

// found returns what v holds under a key.
func found(v, key value.Value) (value.Value, error) {
	if found := member(v, key); found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("path %s does not exist in %s", value.Text(key), value.KindOf(v))
}

// indexIn reads a part of a path as a position in an array; "-" is its end.
func indexIn(a *value.Array, key value.Value) (int, error) {
	switch k := key.(type) {
	case value.Int:
		return int(k), nil
	case value.Decimal:
		if n, ok := value.AsInt(k); ok {
			return int(n), nil
		}
		return 0, errors.New("invalid number type for indexing")
	case value.String:
		if k == "-" {
			return a.Len(), nil
		}
		n, err := value.Number(string(k))
		if err != nil {
			return 0, errors.New("invalid string for indexing")
		}
		i, ok := value.AsInt(n)
		if !ok {
			return 0, errors.New("invalid string for indexing")
		}
		if k != "0" && strings.HasPrefix(string(k), "0") {
			return 0, errors.New("leading zeros are not allowed in JSON paths")
		}
		return int(i), nil
	}
	return 0, errors.New("invalid type for indexing")
}

// insertAt returns the document with a value put in.
func (p *patcher) insertAt(doc value.Value, path []value.Value, v value.Value) (value.Value, error) {
	if len(path) == 0 {
		return v, nil
	}
	return p.changeAt(doc, path, func(in, key value.Value) (value.Value, error) {
		switch in := in.(type) {
		case *value.Object:
			return withKey(in, key, v), nil
		case *value.Set:
			if !value.Equal(key, v) {
				return nil, fmt.Errorf("set key %s does not equal value to be inserted", value.Text(key))
			}
			return withElement(in, nil, v), nil
		case *value.Array:
			i, err := indexIn(in, key)
			if err != nil {
				return nil, err
			}
			if i < 0 || i > in.Len() {
				return nil, errors.New("index for array insertion out of bounds")
			}
			p.shifted = p.shifted || i < in.Len()
			return value.NewArray(slices.Insert(slices.Clone(in.Elems()), i, v)...), nil
		}
		return nil, fmt.Errorf("expected composite type, found %s", value.KindOf(in))
	})
}

// deleteAt returns the document without what is at a path.
func (p *patcher) deleteAt(doc value.Value, path []value.Value) (value.Value, error) {
	if len(path) == 0 {
		if doc == nil {
			return nil, errDeleted
		}
		return nil, nil
	}
	return p.changeAt(doc, path, func(in, key value.Value) (value.Value, error) {
		switch in := in.(type) {
		case *value.Object:
			if _, err := found(in, key); err != nil {
				return nil, err
			}
			return withoutKey(in, key), nil
		case *value.Set:
			if _, err := found(in, key); err != nil {
				return nil, err
			}
			return withElement(in, key, nil), nil
		case *value.Array:
			i, err := indexIn(in, key)
			if err != nil {
				return nil, err
			}
			if i < 0 || i >= in.Len() {
				return nil, errors.New("index for array delete out of bounds")
			}
			p.shifted = true
			return value.NewArray(slices.Delete(slices.Clone(in.Elems()), i, i+1)...), nil
		}
		return nil, fmt.Errorf("expected composite type, found %s", value.KindOf(in))
	})
}

// changeAt returns the document with the collection changed that holds, or is to
// hold, the end of a path.
func (p *patcher) changeAt(doc value.Value, path []value.Value,
	change func(in, key value.Value) (value.Value, error)) (value.Value, error) {
	if doc == nil {
		return nil, errDeleted
	}
	// Each collection on the way is made anew, from the same elements.
	if err := p.ctx.Spend(lengthOf(doc)); err != nil {
		return nil, err
	}
	if err := p.ctx.Alloc(lengthOf(doc) * pieceSize); err != nil {
		return nil, err
	}
	if len(path) == 1 {
		return change(doc, path[0])
	}
	old, err := p.stepInto(doc, path[0])
	if err != nil {
		return nil, err
	}
	changed, err := p.changeAt(old, path[1:], change)
	if err != nil {
		return nil, err
	}
	switch doc := doc.(type) {
	case *value.Object:
		return withKey(doc, path[0], changed), nil
	case *value.Set:
		return withElement(doc, old, changed), nil
	case *value.Array:
		i, err := indexIn(doc, path[0])
		if err != nil {
			return nil, err
		}
		elems := slices.Clone(doc.Elems())
		elems[i] = changed
		return value.NewArray(elems...), nil
	}
	return nil, fmt.Errorf("expected composite type, found %s", value.KindOf(doc))
}

func lengthOf(v value.Value) int {
	switch v := v.(type) {
	case *value.Object:
		return v.Len()
	case *value.Set:
		return v.Len()
	case *value.Array:
		return v.Len()
	}
	return 0
}

func withKey(o *value.Object, key, v value.Value) *value.Object {
	o = o.Clone()
	o.Insert(key, v)
	return o
}

func withoutKey(o *value.Object, key value.Value) *value.Object {
	rest := value.NewObject()
	for _, p := range o.Pairs() {
		if !value.Equal(p.Key, key) {
			rest.Insert(p.Key, p.Value)
		}
	}
	return rest
}

// withElement returns a set less one element and with another; nil is none.
func withElement(s *value.Set, old, added value.Value) *value.Set {
	changed := keep(s, func(e value.Value) bool { return old == nil || !value.Equal(e, old) })
	if added != nil {
		changed.Add(added)
	}
	return changed
}
