package rego

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/internal/plan/value"
)

// A converter makes plain values of what an evaluation yields. A value that is
// held many times over is converted once: written out, it could be too large for
// any memory.
type converter map[ast.Value]value.Value

func (c converter) value(v ast.Value) value.Value {
	switch v := v.(type) {
	case ast.Null:
		return value.Null{}
	case ast.Boolean:
		return value.Bool(v)
	case ast.String:
		return value.String(v)
	case ast.Number:
		n, err := value.Number(string(v))
		if err != nil {
			panic(err)
		}
		return n
	}
	if known := c[v]; known != nil {
		return known
	}
	made := c.composite(v)
	c[v] = made
	return made
}

func (c converter) composite(v ast.Value) value.Value {
	switch v := v.(type) {
	case *ast.Array:
		elems := make([]value.Value, 0, v.Len())
		v.Foreach(func(t *ast.Term) { elems = append(elems, c.value(t.Value)) })
		return value.NewArray(elems...)
	case ast.Set:
		elems := make([]value.Value, 0, v.Len())
		v.Foreach(func(t *ast.Term) { elems = append(elems, c.value(t.Value)) })
		return value.OrderedSet(elems)
	case ast.Object:
		pairs := make([]value.Pair, 0, v.Len())
		v.Foreach(func(key, held *ast.Term) {
			pairs = append(pairs, value.Pair{Key: c.value(key.Value), Value: c.value(held.Value)})
		})
		return value.OrderedObject(pairs)
	}
	panic(fmt.Sprintf("%s is no value", ast.ValueName(v)))
}
