package builtin

import (
	"slices"

	"gate/internal/plan/value"
)

func arrayConcat(ctx *Context, args []value.Value) (value.Value, error) {
	a, err := array(args, 0)
	if err != nil {
		return nil, err
	}
	b, err := array(args, 1)
	switch {
	case err != nil:
		return nil, err
	case a.Len() == 0:
		return b, nil
	case b.Len() == 0:
		return a, nil
	}
	if err := boundElements(ctx, a.Len()+b.Len()); err != nil {
		return nil, err
	}
	return value.NewArray(slices.Concat(a.Elems(), b.Elems())...), nil
}

// arrayFlatten opens the arrays in an array, not those within them.
func arrayFlatten(ctx *Context, args []value.Value) (value.Value, error) {
	a, err := array(args, 0)
	if err != nil {
		return nil, err
	}
	n := a.Len()
	for _, e := range a.Elems() {
		if inner, ok := e.(*value.Array); ok {
			n += inner.Len()
		}
	}
	if err := boundElements(ctx, n); err != nil {
		return nil, err
	}
	flat := make([]value.Value, 0, n)
	for _, e := range a.Elems() {
		if inner, ok := e.(*value.Array); ok {
			flat = append(flat, inner.Elems()...)
		} else {
			flat = append(flat, e)
		}
	}
	return value.NewArray(flat...), nil
}

func arraySlice(_ *Context, args []value.Value) (value.Value, error) {
	a, err := array(args, 0)
	if err != nil {
		return nil, err
	}
	from, err := integer(args, 1)
	if err != nil {
		return nil, err
	}
	to, err := integer(args, 2)
	if err != nil {
		return nil, err
	}
	to = min(max(to, 0), a.Len())
	from = min(max(from, 0), to)
	return value.NewArray(slices.Clone(a.Elems()[from:to])...), nil
}

func arrayReverse(_ *Context, args []value.Value) (value.Value, error) {
	a, err := array(args, 0)
	if err != nil {
		return nil, err
	}
	reversed := slices.Clone(a.Elems())
	slices.Reverse(reversed)
	return value.NewArray(reversed...), nil
}
