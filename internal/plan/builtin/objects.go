package builtin

import (
	"slices"

	"gate/internal/plan/value"
)

func objectGet(_ *Context, args []value.Value) (value.Value, error) {
	o, err := object(args, 0)
	if err != nil {
		return nil, err
	}
	var found value.Value = o
	if path, ok := args[1].(*value.Array); ok {
		for _, key := range path.Elems() {
			if found = member(found, key); found == nil {
				break
			}
		}
	} else {
		found = o.Get(args[1])
	}
	if found == nil {
		return args[2], nil
	}
	return found, nil
}

func objectKeys(_ *Context, args []value.Value) (value.Value, error) {
	if _, err := object(args, 0); err != nil {
		return nil, err
	}
	return keysOf(args, 0)
}

// keysOf reads the keys that an array, a set or an object names.
func keysOf(args []value.Value, i int) (*value.Set, error) {
	switch v := args[i].(type) {
	case *value.Array:
		return value.NewSet(v.Elems()...), nil
	case *value.Set:
		return v, nil
	case *value.Object:
		keys := value.NewSet()
		for _, p := range v.Pairs() {
			keys.Add(p.Key)
		}
		return keys, nil
	}
	return nil, Operand(i+1, args[i], "object", "set", "array")
}

func objectRemove(_ *Context, args []value.Value) (value.Value, error) {
	return chooseKeys(args, false)
}

func objectFilter(_ *Context, args []value.Value) (value.Value, error) {
	return chooseKeys(args, true)
}

// chooseKeys keeps the keys that are named, or those that are not.
func chooseKeys(args []value.Value, named bool) (value.Value, error) {
	o, err := object(args, 0)
	if err != nil {
		return nil, err
	}
	keys, err := keysOf(args, 1)
	if err != nil {
		return nil, err
	}
	kept := value.NewObject()
	for _, p := range o.Pairs() {
		if keys.Has(p.Key) == named {
			kept.Insert(p.Key, p.Value)
		}
	}
	return kept, nil
}

func objectUnion(_ *Context, args []value.Value) (value.Value, error) {
	a, err := object(args, 0)
	if err != nil {
		return nil, err
	}
	b, err := object(args, 1)
	if err != nil {
		return nil, err
	}
	if value.Equal(a, b) {
		return a, nil
	}
	return merge(a, b), nil
}

// merge puts b over a. Objects under one key are merged, too; of anything else b
// counts.
func merge(a, b *value.Object) *value.Object {
	switch {
	case a.Len() == 0:
		return b
	case b.Len() == 0:
		return a
	}
	merged := a.Clone()
	for _, p := range b.Pairs() {
		over, ok1 := p.Value.(*value.Object)
		under, ok2 := merged.Get(p.Key).(*value.Object)
		if ok1 && ok2 {
			merged.Insert(p.Key, merge(under, over))
		} else {
			merged.Insert(p.Key, p.Value)
		}
	}
	return merged
}

func objectSubset(ctx *Context, args []value.Value) (value.Value, error) {
	if super, ok := args[0].(*value.Array); ok {
		if sub, ok := args[1].(*value.Set); ok {
			return holdsAll(super, sub), nil
		}
	}
	kind := value.KindOf(args[0])
	if kind != value.KindOf(args[1]) || kind < value.KindArray {
		return nil, &TypeError{"both arguments object.subset must be of the same type or array and set"}
	}
	holds, err := within(ctx, args[1], args[0])
	if err != nil {
		return nil, err
	}
	return value.Bool(holds), nil
}

// holdsAll reports whether an array has all elements of a set. OPA counts those
// that it meets, so that one that comes twice stands for two; and an empty array
// has none, not even those of an empty set.
func holdsAll(super *value.Array, sub *value.Set) value.Bool {
	missing := sub.Len()
	for _, e := range super.Elems() {
		if sub.Has(e) {
			missing--
		}
		if missing == 0 {
			return true
		}
	}
	return false
}

// within reports whether sub is a part of super: the keys of an object, with
// parts of their values; the elements of a set; or a run of an array's elements.
func within(ctx *Context, sub, super value.Value) (bool, error) {
	switch sub := sub.(type) {
	case *value.Object:
		if super, ok := super.(*value.Object); ok {
			return keysWithin(ctx, sub, super)
		}
	case *value.Set:
		if super, ok := super.(*value.Set); ok {
			return !slices.ContainsFunc(sub.Elems(), func(e value.Value) bool { return !super.Has(e) }), nil
		}
	case *value.Array:
		if super, ok := super.(*value.Array); ok {
			return runWithin(ctx, sub.Elems(), super.Elems())
		}
	}
	return false, nil
}

func keysWithin(ctx *Context, sub, super *value.Object) (bool, error) {
	for _, p := range sub.Pairs() {
		found := super.Get(p.Key)
		if found == nil {
			return false, nil
		}
		if value.Equal(p.Value, found) {
			continue
		}
		if holds, err := within(ctx, p.Value, found); err != nil || !holds {
			return false, err
		}
	}
	return true, nil
}

// runWithin looks for sub among the runs of super, one start after another.
func runWithin(ctx *Context, sub, super []value.Value) (bool, error) {
	from, matched := 0, 0
	for {
		switch {
		case matched == len(sub):
			return true, nil
		case from+matched == len(super):
			return false, nil
		}
		if err := ctx.Spend(1); err != nil {
			return false, err
		}
		if value.Equal(super[from+matched], sub[matched]) {
			matched++
		} else {
			from, matched = from+1, 0
		}
	}
}
