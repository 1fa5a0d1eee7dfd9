package builtin

import (
	"slices"

	"gate/internal/plan/value"
)

// walk returns all pairs of a path and the value there, the operand with an
// empty path first.
func walk(ctx *Context, args []value.Value) (value.Value, error) {
	w := walker{ctx: ctx}
	if err := w.visit(args[0]); err != nil {
		return nil, err
	}
	return value.NewArray(w.found...), nil
}

type walker struct {
	ctx   *Context
	path  []value.Value
	found []value.Value
}

func (w *walker) visit(v value.Value) error {
	if err := w.ctx.Spend(1 + len(w.path)); err != nil {
		return err
	}
	if err := w.ctx.Alloc((4 + len(w.path)) * pieceSize); err != nil {
		return err
	}
	w.found = append(w.found, value.NewArray(value.NewArray(slices.Clone(w.path)...), v))
	switch v := v.(type) {
	case *value.Array:
		for i, e := range v.Elems() {
			if err := w.below(value.Int(i), e); err != nil {
				return err
			}
		}
	case *value.Object:
		for _, p := range v.Pairs() {
			if err := w.below(p.Key, p.Value); err != nil {
				return err
			}
		}
	case *value.Set:
		for _, e := range v.Elems() {
			if err := w.below(e, e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) below(key, v value.Value) error {
	w.path = append(w.path, key)
	err := w.visit(v)
	w.path = w.path[:len(w.path)-1]
	return err
}

// nothing stands for what only OPA's tracing and testing see.
func nothing(_ *Context, _ []value.Value) (value.Value, error) { return value.Bool(true), nil }

func trace(_ *Context, args []value.Value) (value.Value, error) {
	if _, err := text(args, 0); err != nil {
		return nil, err
	}
	return value.Bool(true), nil
}
