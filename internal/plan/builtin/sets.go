package builtin

import "gate/internal/plan/value"

func twoSets(args []value.Value) (a, b *value.Set, err error) {
	if a, err = set(args, 0); err != nil {
		return nil, nil, err
	}
	b, err = set(args, 1)
	return a, b, err
}

// keep returns the elements of a set that a test holds for.
func keep(s *value.Set, holds func(value.Value) bool) *value.Set {
	kept := value.NewSet()
	for _, e := range s.Elems() {
		if holds(e) {
			kept.Add(e)
		}
	}
	return kept
}

func difference(_ *Context, args []value.Value) (value.Value, error) {
	a, b, err := twoSets(args)
	if err != nil {
		return nil, err
	}
	return keep(a, func(e value.Value) bool { return !b.Has(e) }), nil
}

func and(_ *Context, args []value.Value) (value.Value, error) {
	a, b, err := twoSets(args)
	if err != nil {
		return nil, err
	}
	return intersect(a, b), nil
}

// intersect takes equal elements from the smaller set.
func intersect(a, b *value.Set) *value.Set {
	if b.Len() < a.Len() {
		a, b = b, a
	}
	return keep(a, b.Has)
}

func or(ctx *Context, args []value.Value) (value.Value, error) {
	a, b, err := twoSets(args)
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
	all := a.Clone()
	for _, e := range b.Elems() {
		all.Add(e)
	}
	return all, nil
}

// setsIn reads a set of sets.
func setsIn(args []value.Value) ([]*value.Set, error) {
	outer, err := set(args, 0)
	if err != nil {
		return nil, err
	}
	sets := make([]*value.Set, 0, outer.Len())
	for _, e := range outer.Elems() {
		s, err := typed[*value.Set](e, 1, "set")
		if err != nil {
			return nil, err
		}
		sets = append(sets, s)
	}
	return sets, nil
}

func intersection(_ *Context, args []value.Value) (value.Value, error) {
	sets, err := setsIn(args)
	if err != nil {
		return nil, err
	}
	if len(sets) == 0 {
		return value.NewSet(), nil
	}
	common := sets[0]
	for _, s := range sets[1:] {
		common = intersect(common, s)
	}
	return common, nil
}

func union(ctx *Context, args []value.Value) (value.Value, error) {
	sets, err := setsIn(args)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, s := range sets {
		n += s.Len()
	}
	if err := boundElements(ctx, n); err != nil {
		return nil, err
	}
	all := value.NewSet()
	for _, s := range sets {
		for _, e := range s.Elems() {
			all.Add(e)
		}
	}
	return all, nil
}
