package builtin

import (
	"strconv"
	"strings"

	"gate/engine/plan/value"
)

// paths reads an array or a set of paths: strings of the form a/b, with ~0 and
// ~1 as in RFC 6901, or arrays of keys. It returns a tree of what they name:
// objects by keys, null at the end of a path.
func paths(args []value.Value, i int) (*value.Object, error) {
	list, ok := elements(args[i])
	if !ok {
		return nil, Operand(i+1, args[i], "set", "array")
	}
	tree := value.NewObject()
	for _, e := range list {
		path, err := pathOf(e)
		if err != nil {
			return nil, err
		}
		grow(tree, path)
	}
	return tree, nil
}

// grow adds a path to a tree. What goes on below the end of another path adds
// nothing, and a shorter path replaces longer ones that were there before.
func grow(tree *value.Object, path []value.Value) {
	for i, key := range path {
		if i == len(path)-1 {
			tree.Insert(key, value.Null{})
			return
		}
		switch below := tree.Get(key).(type) {
		case nil:
			next := value.NewObject()
			tree.Insert(key, next)
			tree = next
		case *value.Object:
			tree = below
		default:
			return
		}
	}
}

func pathOf(v value.Value) ([]value.Value, error) {
	switch v := v.(type) {
	case *value.Array:
		return v.Elems(), nil
	case value.String:
		if v == "" {
			return nil, nil
		}
		parts := strings.Split(strings.TrimLeft(string(v), "/"), "/")
		path := make([]value.Value, len(parts))
		for i, p := range parts {
			path[i] = value.String(strings.ReplaceAll(strings.ReplaceAll(p, "~1", "/"), "~0", "~"))
		}
		return path, nil
	}
	return nil, operandError(2, "must be one of {set, array} containing string paths or array of path segments but got %s",
		value.KindOf(v))
}

func jsonFilter(_ *Context, args []value.Value) (value.Value, error) {
	if _, err := object(args, 0); err != nil {
		return nil, err
	}
	tree, err := paths(args, 1)
	if err != nil {
		return nil, err
	}
	return filter(args[0], tree), nil
}

// place is the key of element i of an array in a tree of paths.
func place(i int) value.Value { return value.String(strconv.Itoa(i)) }

// filter returns the part of v that a tree names.
func filter(v, tree value.Value) value.Value {
	named, ok := tree.(*value.Object)
	if !ok {
		return v
	}
	switch v := v.(type) {
	case *value.Array:
		kept := &value.Array{}
		for i, e := range v.Elems() {
			if below := named.Get(place(i)); below != nil {
				kept.Append(filter(e, below))
			}
		}
		return kept
	case *value.Set:
		kept := &value.Set{}
		for _, e := range v.Elems() {
			if below := named.Get(e); below != nil {
				kept.Add(filter(e, below))
			}
		}
		return kept
	case *value.Object:
		kept := &value.Object{}
		for _, p := range v.Pairs() {
			if below := named.Get(p.Key); below != nil {
				kept.Insert(p.Key, filter(p.Value, below))
			}
		}
		return kept
	}
	return v
}

func jsonRemove(_ *Context, args []value.Value) (value.Value, error) {
	if _, err := object(args, 0); err != nil {
		return nil, err
	}
	tree, err := paths(args, 1)
	if err != nil {
		return nil, err
	}
	return without(args[0], tree), nil
}

// without returns v less what a tree names, nil if that is all of it.
func without(v, tree value.Value) value.Value {
	if tree == nil {
		return v
	}
	named, ok := tree.(*value.Object)
	if !ok {
		return nil
	}
	switch v := v.(type) {
	case *value.Array:
		kept := &value.Array{}
		for i, e := range v.Elems() {
			if rest := without(e, named.Get(place(i))); rest != nil {
				kept.Append(rest)
			}
		}
		return kept
	case *value.Set:
		kept := &value.Set{}
		for _, e := range v.Elems() {
			if rest := without(e, named.Get(e)); rest != nil {
				kept.Add(rest)
			}
		}
		return kept
	case *value.Object:
		kept := &value.Object{}
		for _, p := range v.Pairs() {
			if rest := without(p.Value, named.Get(p.Key)); rest != nil {
				kept.Insert(p.Key, rest)
			}
		}
		return kept
	}
	return v
}
