package mutate

import (
	"slices"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"
)

// terms changes what an expression speaks of: constants, and the conditions of
// comprehensions and of every.
func (w *walker) terms(e *ast.Expr) {
	switch x := e.Terms.(type) {
	case *ast.Term:
		w.term(x)
	case []*ast.Term:
		for _, t := range x {
			w.term(t)
		}
	case *ast.SomeDecl:
		for _, t := range x.Symbols {
			w.term(t)
		}
	case *ast.Every:
		w.term(x.Domain)
		w.body(x.Body)
	}
}

// term goes through a term and what it holds. Sets and the keys of objects are
// found by their hashes, so nothing in them is changed in place.
func (w *walker) term(t *ast.Term) {
	if t == nil || w.done {
		return
	}
	switch v := t.Value.(type) {
	case ast.Boolean, ast.Number:
		w.constant(t)
	case *ast.Array, ast.Object, ast.Set:
		if t.IsGround() && isConstant(v) {
			w.members(t)
			return
		}
		w.elements(v)
	case ast.Call:
		for _, arg := range v[1:] {
			w.term(arg)
		}
	case ast.Ref:
		for _, part := range v {
			w.term(part)
		}
	case *ast.ArrayComprehension:
		w.term(v.Term)
		w.body(v.Body)
	case *ast.SetComprehension:
		w.term(v.Term)
		w.body(v.Body)
	case *ast.ObjectComprehension:
		w.term(v.Key)
		w.term(v.Value)
		w.body(v.Body)
	}
}

func (w *walker) elements(v ast.Value) {
	switch v := v.(type) {
	case *ast.Array:
		v.Foreach(w.term)
	case ast.Object:
		v.Foreach(func(_, value *ast.Term) { w.term(value) })
	}
}

// isConstant reports values that hold nothing to be worked out.
func isConstant(v ast.Value) bool {
	constant := true
	ast.WalkTerms(v, func(t *ast.Term) bool {
		switch t.Value.(type) {
		case ast.Null, ast.Boolean, ast.Number, ast.String, *ast.Array, ast.Object, ast.Set:
		default:
			constant = false
		}
		return !constant
	})
	return constant
}

// constant turns a boolean around and adds one to a number. What OPA put there
// by itself, such as the value of a rule that says none, has no text.
func (w *walker) constant(t *ast.Term) {
	old := t.Value
	if t.Location == nil || string(t.Location.Text) != old.String() {
		return
	}
	switch v := old.(type) {
	case ast.Boolean:
		t.Value = !v
	case ast.Number:
		n, ok := v.Int64()
		if !ok {
			return
		}
		t.Value = ast.Number(strconv.FormatInt(n+1, 10))
	}
	w.emit(t.Location, old.String(), "became "+t.Value.String())
	t.Value = old
}

// maxMembers is how many members of one constant are dropped, spread evenly
// over it: a table of a thousand names is one condition, not a thousand.
const maxMembers = 32

// members drops one member of a constant at a time, at every depth.
func (w *walker) members(t *ast.Term) {
	old := t.Value
	all := without(old)
	for i := range min(len(all), maxMembers) {
		less := all[i*len(all)/min(len(all), maxMembers)]
		loc := less.member.Location
		if loc == nil {
			loc = t.Location
		}
		t.Value = less.value
		w.emit(loc, less.member.String(), memberDropped)
	}
	t.Value = old
}

// A lesser value is a constant from which one member is missing, be it an
// element or an object's key, its own or one of a value that it holds.
type lesser struct {
	member *ast.Term
	value  ast.Value
}

func without(v ast.Value) []lesser {
	switch v := v.(type) {
	case *ast.Array:
		return withoutElement(v)
	case ast.Object:
		return withoutKey(v)
	case ast.Set:
		var list []lesser
		for _, member := range v.Slice() {
			list = append(list, lesser{member, v.Diff(ast.NewSet(member))})
		}
		return list
	}
	return nil
}

func withoutElement(v *ast.Array) []lesser {
	var all []*ast.Term
	v.Foreach(func(t *ast.Term) { all = append(all, t) })
	var list []lesser
	for i, t := range all {
		list = append(list, lesser{t, ast.NewArray(slices.Delete(slices.Clone(all), i, i+1)...)})
		for _, inner := range without(t.Value) {
			changed := slices.Clone(all)
			changed[i] = &ast.Term{Value: inner.value, Location: t.Location}
			list = append(list, lesser{inner.member, ast.NewArray(changed...)})
		}
	}
	return list
}

func withoutKey(v ast.Object) []lesser {
	var list []lesser
	v.Foreach(func(key, value *ast.Term) {
		less := ast.NewObject()
		v.Foreach(func(k, x *ast.Term) {
			if !k.Equal(key) {
				less.Insert(k, x)
			}
		})
		list = append(list, lesser{key, less})
		for _, inner := range without(value.Value) {
			changed := v.Copy()
			changed.Insert(key, &ast.Term{Value: inner.value, Location: value.Location})
			list = append(list, lesser{inner.member, changed})
		}
	})
	return list
}
