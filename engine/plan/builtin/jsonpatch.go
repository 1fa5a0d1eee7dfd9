package builtin

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gate/engine/plan/value"
)

var errDeleted = errors.New("the document was removed")

// jsonPatch applies RFC 6902, to sets as well. It is undefined if the patches
// remove the whole document.
func jsonPatch(ctx *Context, args []value.Value) (value.Value, error) {
	patches, err := array(args, 1)
	if err != nil {
		return nil, err
	}
	doc := args[0]
	for _, p := range patches.Elems() {
		if doc, err = patch(ctx, doc, p); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// A patchOperation is one member of a patch.
type patchOperation struct{ fields *value.Object }

func (p patchOperation) field(name string) (value.Value, error) {
	if v := p.fields.Get(value.String(name)); v != nil {
		return v, nil
	}
	return nil, fmt.Errorf("missing required attribute '%s'", name)
}

func (p patchOperation) path(name string) ([]value.Value, error) {
	v, err := p.field(name)
	if err != nil {
		return nil, err
	}
	return pathOf(v)
}

// patch applies one operation to a document, which is nil if it was removed.
func patch(ctx *Context, doc, operation value.Value) (value.Value, error) {
	fields, ok := operation.(*value.Object)
	if !ok {
		return nil, errors.New("must be an array of JSON-Patch objects, but at least one element is not an object")
	}
	p := patchOperation{fields}
	if _, err := p.field("path"); err != nil {
		return nil, err
	}
	op, err := p.field("op")
	if err != nil {
		return nil, err
	}
	name, ok := op.(value.String)
	if !ok {
		return nil, fmt.Errorf("attribute 'op' must be a string but found: %s", value.KindOf(op))
	}
	path, err := p.path("path")
	if err != nil {
		return nil, err
	}
	switch name {
	case "add":
		v, err := p.field("value")
		if err != nil {
			return nil, err
		}
		return insertAt(ctx, doc, path, v)
	case "remove":
		return deleteAt(ctx, doc, path)
	case "replace":
		if doc, err = deleteAt(ctx, doc, path); err != nil {
			return nil, err
		}
		v, err := p.field("value")
		if err != nil {
			return nil, err
		}
		return insertAt(ctx, doc, path, v)
	case "move", "copy":
		return p.transfer(ctx, doc, path, name == "move")
	case "test":
		return doc, p.test(doc, path)
	}
	return nil, fmt.Errorf("unrecognized op: '%s'", string(name))
}

// transfer puts what is at one path at another.
func (p patchOperation) transfer(ctx *Context, doc value.Value, to []value.Value, move bool) (value.Value, error) {
	from, err := p.path("from")
	if err != nil {
		return nil, err
	}
	v, err := lookAt(doc, from)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, errDeleted
	}
	if move {
		if doc, err = deleteAt(ctx, doc, from); err != nil {
			return nil, err
		}
	}
	return insertAt(ctx, doc, to, v)
}

func (p patchOperation) test(doc value.Value, path []value.Value) error {
	found, err := lookAt(doc, path)
	if err != nil {
		return err
	}
	want, err := p.field("value")
	if err != nil {
		return err
	}
	if found == nil || !value.Equal(found, want) {
		return errors.New("the value at the path is not the value of the patch")
	}
	return nil
}

// lookAt returns what is at a path.
func lookAt(doc value.Value, path []value.Value) (value.Value, error) {
	for _, key := range path {
		next, err := stepInto(doc, key)
		if err != nil {
			return nil, err
		}
		doc = next
	}
	return doc, nil
}

// stepInto returns what v holds under one part of a path.
func stepInto(v, key value.Value) (value.Value, error) {
	if a, ok := v.(*value.Array); ok {
		i, err := indexIn(a, key)
		if err != nil {
			return nil, err
		}
		key = value.Int(i)
	}
	if v == nil {
		return nil, errDeleted
	}
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
func insertAt(ctx *Context, doc value.Value, path []value.Value, v value.Value) (value.Value, error) {
	if len(path) == 0 {
		return v, nil
	}
	return changeAt(ctx, doc, path, func(in, key value.Value) (value.Value, error) {
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
			return value.NewArray(slices.Insert(slices.Clone(in.Elems()), i, v)...), nil
		}
		return nil, fmt.Errorf("expected composite type, found %s", value.KindOf(in))
	})
}

// deleteAt returns the document without what is at a path.
func deleteAt(ctx *Context, doc value.Value, path []value.Value) (value.Value, error) {
	if len(path) == 0 {
		if doc == nil {
			return nil, errDeleted
		}
		return nil, nil
	}
	return changeAt(ctx, doc, path, func(in, key value.Value) (value.Value, error) {
		if _, err := stepInto(in, key); err != nil {
			return nil, err
		}
		switch in := in.(type) {
		case *value.Object:
			rest := value.NewObject()
			for _, p := range in.Pairs() {
				if !value.Equal(p.Key, key) {
					rest.Insert(p.Key, p.Value)
				}
			}
			return rest, nil
		case *value.Set:
			return withElement(in, key, nil), nil
		case *value.Array:
			i, err := indexIn(in, key)
			if err != nil {
				return nil, err
			}
			return value.NewArray(slices.Delete(slices.Clone(in.Elems()), i, i+1)...), nil
		}
		return nil, fmt.Errorf("expected composite type, found %s", value.KindOf(in))
	})
}

// changeAt returns the document with the collection changed that holds, or is to
// hold, the end of a path.
func changeAt(ctx *Context, doc value.Value, path []value.Value,
	change func(in, key value.Value) (value.Value, error)) (value.Value, error) {
	if doc == nil {
		return nil, errDeleted
	}
	// Each collection on the way is made anew, from the same elements.
	if err := ctx.Spend(lengthOf(doc)); err != nil {
		return nil, err
	}
	if err := ctx.Alloc(lengthOf(doc) * pieceSize); err != nil {
		return nil, err
	}
	if len(path) == 1 {
		return change(doc, path[0])
	}
	old, err := stepInto(doc, path[0])
	if err != nil {
		return nil, err
	}
	changed, err := changeAt(ctx, old, path[1:], change)
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

// withElement returns a set less one element and with another; nil is none.
func withElement(s *value.Set, old, added value.Value) *value.Set {
	changed := keep(s, func(e value.Value) bool { return old == nil || !value.Equal(e, old) })
	if added != nil {
		changed.Add(added)
	}
	return changed
}
