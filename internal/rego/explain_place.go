package rego

import (
	"fmt"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"
)

// value describes one part.
func (a *account) value(part *ast.Term, v ast.Value, values known) Value {
	out := Value{Text: part.String(), Path: a.path(part, v, values), Absent: v == nil}
	if v != nil {
		out.Value = plain(v)
	}
	return out
}

// path tells where below input a part was read.
func (a *account) path(part *ast.Term, v ast.Value, values known) string {
	ref, ok := part.Value.(ast.Ref)
	if !ok {
		return a.placeOf(v)
	}
	path := ""
	if !ref[0].Equal(ast.InputRootDocument) {
		if path = a.placeOf(values[ref[0].String()]); path == "" {
			return ""
		}
	}
	for _, e := range ref[1:] {
		step := e.Value
		if _, isVar := step.(ast.Var); isVar {
			if step = values[e.String()]; step == nil {
				return path
			}
		}
		path = below(path, step)
	}
	return path
}

// A place is one object or list within the input.
type place struct {
	value ast.Value
	path  string
}

// placesOf lists what stands in the input. The first of equal ones is as good
// as the others.
func placesOf(input ast.Value) map[int][]place {
	places := map[int][]place{}
	var walk func(v ast.Value, path string)
	walk = func(v ast.Value, path string) {
		switch v := v.(type) {
		case ast.Object:
			v.Foreach(func(k, e *ast.Term) { walk(e.Value, below(path, k.Value)) })
			if v.Len() == 0 {
				return
			}
		case *ast.Array:
			for i := range v.Len() {
				walk(v.Elem(i).Value, below(path, ast.Number(strconv.Itoa(i))))
			}
			return // lists that are equal by chance are many
		default:
			return
		}
		places[v.Hash()] = append(places[v.Hash()], place{v, path})
	}
	walk(input, "")
	return places
}

func (a *account) placeOf(v ast.Value) string {
	if v == nil {
		return ""
	}
	for _, p := range a.places[v.Hash()] {
		if p.value.Compare(v) == 0 {
			return p.path
		}
	}
	return ""
}

func below(path string, step ast.Value) string {
	s, ok := step.(ast.String)
	switch {
	case !ok:
		return fmt.Sprintf("%s[%s]", path, step)
	case path == "":
		return string(s)
	}
	return path + "." + string(s)
}
