package builtin

import (
	"slices"

	"gate/engine/plan/value"
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

// startsOf reads a graph, which has the neighbours of each of its nodes, and
// where to begin.
func startsOf(args []value.Value) (*value.Object, []value.Value, error) {
	g, err := object(args, 0)
	if err != nil {
		return nil, nil, err
	}
	starts, ok := elements(args[1])
	if !ok {
		return nil, nil, Operand(2, args[1], "{array, set}")
	}
	return g, starts, nil
}

// graphReachable returns the nodes of the graph that can be reached. Neighbours
// that it does not have are none.
func graphReachable(ctx *Context, args []value.Value) (value.Value, error) {
	graph, starts, err := startsOf(args)
	if err != nil {
		return nil, err
	}
	reached := value.NewSet()
	queue := slices.Clone(starts)
	for len(queue) > 0 {
		node := queue[0]
		queue = queue[1:]
		edges := graph.Get(node)
		if edges == nil || !reached.Add(node) {
			continue
		}
		neighbours, _ := elements(edges)
		if err := ctx.Spend(1 + len(neighbours)); err != nil {
			return nil, err
		}
		for _, n := range neighbours {
			if !reached.Has(n) {
				queue = append(queue, n)
			}
		}
	}
	return reached, nil
}

// graphReachablePaths returns all paths from the starts to where there is
// nothing new. There may be very many.
func graphReachablePaths(ctx *Context, args []value.Value) (value.Value, error) {
	graph, starts, err := startsOf(args)
	if err != nil {
		return nil, err
	}
	p := pathFinder{ctx: ctx, graph: graph, found: value.NewSet()}
	for _, start := range starts {
		edges := graph.Get(start)
		if edges == nil {
			continue
		}
		neighbours, _ := elements(edges)
		p.path = []value.Value{start}
		if len(neighbours) == 0 {
			err = p.end()
		}
		for i := 0; i < len(neighbours) && err == nil; i++ {
			err = p.follow(neighbours[i])
		}
		if err != nil {
			return nil, err
		}
	}
	return p.found, nil
}

type pathFinder struct {
	ctx   *Context
	graph *value.Object
	path  []value.Value
	found *value.Set
}

// end notes that the path goes no further.
func (p *pathFinder) end() error {
	p.found.Add(value.NewArray(slices.Clone(p.path)...))
	if err := p.ctx.Spend(len(p.path)); err != nil {
		return err
	}
	return p.ctx.Alloc((1 + len(p.path)) * pieceSize)
}

// follow goes on to a node that the path may not have met. A neighbour that the
// graph does not have ends the path before it.
func (p *pathFinder) follow(node value.Value) error {
	if err := p.ctx.Spend(1 + len(p.path)); err != nil {
		return err
	}
	edges := p.graph.Get(node)
	if edges == nil {
		return p.end()
	}
	p.path = append(p.path, node)
	defer func() { p.path = p.path[:len(p.path)-1] }()
	neighbours, _ := elements(edges)
	if len(neighbours) == 0 {
		return p.end()
	}
	for _, n := range neighbours {
		var err error
		if slices.ContainsFunc(p.path, func(met value.Value) bool { return value.Equal(met, n) }) {
			err = p.end()
		} else {
			err = p.follow(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// nothing stands for what only OPA's tracing and testing see.
func nothing(_ *Context, _ []value.Value) (value.Value, error) { return value.Bool(true), nil }

func trace(_ *Context, args []value.Value) (value.Value, error) {
	if _, err := text(args, 0); err != nil {
		return nil, err
	}
	return value.Bool(true), nil
}
