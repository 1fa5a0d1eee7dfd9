package builtin

import (
	"strconv"
	"strings"

	"gate/internal/plan/value"
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

// prune makes a builtin of what is left of an object by a tree of paths.
func prune(args []value.Value, left func(v, tree value.Value) value.Value) (value.Value, error) {
	if _, err := object(args, 0); err != nil {
		return nil, err
	}
	tree, err := paths(args, 1)
	if err != nil {
		return nil, err
	}
	return left(args[0], tree), nil
}

func jsonFilter(_ *Context, args []value.Value) (value.Value, error) { return prune(args, filter) }

func jsonRemove(_ *Context, args []value.Value) (value.Value, error) { return prune(args, without) }

// place is the key of element i of an array in a tree of paths.
func place(i int) value.Value { return value.String(strconv.Itoa(i)) }

// filter returns the part of v that a tree names, nil if it names nothing.
func filter(v, tree value.Value) value.Value {
	if tree == nil {
		return nil
	}
	if named, ok := tree.(*value.Object); ok {
		return each(v, named, filter)
	}
	return v
}

// without returns v less what a tree names, nil if that is all of it.
func without(v, tree value.Value) value.Value {
	if tree == nil {
		return v
	}
	if named, ok := tree.(*value.Object); ok {
		return each(v, named, without)
	}
	return nil
}

// each returns a collection of what is left of its elements by what a tree holds
// for them. What is no collection stays.
func each(v value.Value, named *value.Object, left func(v, tree value.Value) value.Value) value.Value {
	switch v := v.(type) {
	case *value.Array:
		kept := &value.Array{}
		for i, e := range v.Elems() {
			if rest := left(e, named.Get(place(i))); rest != nil {
				kept.Append(rest)
			}
		}
		return kept
	case *value.Set:
		kept := &value.Set{}
		for _, e := range v.Elems() {
			if rest := left(e, named.Get(e)); rest != nil {
				kept.Add(rest)
			}
		}
		return kept
	case *value.Object:
		kept := &value.Object{}
		for _, p := range v.Pairs() {
			if rest := left(p.Value, named.Get(p.Key)); rest != nil {
				kept.Insert(p.Key, rest)
			}
		}
		return kept
	}
	return v
}
