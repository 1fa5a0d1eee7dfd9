package rego

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Values of a snapshot. Numbers, strings, variables and names of functions are
// atoms: they are written once a section and then named by their place.
const (
	kindNull byte = iota
	kindFalse
	kindTrue
	kindAtom
	kindRef
	kindArray
	kindObject
	kindSet
	kindArrayOf
	kindSetOf
	kindObjectOf
	kindCall

	sameRow = 0x80 // the term stands in the row of the one before
)

const (
	atomNumber byte = iota
	atomString
	atomVar
	atomName // a reference to a function: atoms
)

// Expressions.
const (
	exprTerm byte = iota
	exprCall
	exprEvery

	exprWith      = 0x20
	exprNegated   = 0x40
	exprGenerated = 0x80
)

// Parts of a rule.
const (
	ruleDefault = 1 << iota
	ruleAssign
	ruleKey
	ruleValue
	ruleElse
)

// An encoder writes the head or a section of a snapshot. The first thing that
// cannot be written stays in err.
type encoder struct {
	buf   []byte
	row   int
	atoms map[string]int
	err   error
}

func (e *encoder) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("a snapshot cannot hold "+format, args...)
	}
}

func (e *encoder) int(n int)    { e.buf = binary.AppendUvarint(e.buf, uint64(n)) }
func (e *encoder) raw(s string) { e.buf = append(e.buf, s...) }
func (e *encoder) byte(b byte)  { e.buf = append(e.buf, b) }
func (e *encoder) sum(n uint32) { e.buf = binary.LittleEndian.AppendUint32(e.buf, n) }

func (e *encoder) bool(b bool) {
	if b {
		e.byte(1)
		return
	}
	e.byte(0)
}

func (e *encoder) text(s string) {
	e.int(len(s))
	e.raw(s)
}

// module writes a compiled module: its atoms, then its rules, which name them.
func (e *encoder) module(m *ast.Module) {
	rules := &encoder{atoms: map[string]int{}}
	rules.int(len(m.Rules))
	for _, r := range m.Rules {
		rules.rule(r)
	}
	atoms := make([]string, len(rules.atoms))
	for atom, i := range rules.atoms {
		atoms[i] = atom
	}
	e.int(len(atoms))
	e.raw(strings.Join(atoms, ""))
	e.raw(string(rules.buf))
	e.err = rules.err
}

// atom returns the place of an atom that is written as kind and text.
func (e *encoder) atom(kind byte, text string) int {
	one := &encoder{}
	one.byte(kind)
	one.text(text)
	return e.place(string(one.buf))
}

func (e *encoder) place(atom string) int {
	i, known := e.atoms[atom]
	if !known {
		i = len(e.atoms)
		e.atoms[atom] = i
	}
	return i
}

func (e *encoder) rule(r *ast.Rule) {
	parts := 0
	add := func(part int, is bool) {
		if is {
			parts |= part
		}
	}
	h := r.Head
	add(ruleDefault, r.Default)
	add(ruleAssign, h.Assign)
	add(ruleKey, h.Key != nil)
	add(ruleValue, h.Value != nil)
	add(ruleElse, r.Else != nil)
	e.int(parts)
	e.at(r.Location)
	e.at(h.Location)
	e.int(e.atom(atomVar, string(h.Name)))
	e.terms(h.Reference)
	e.terms(h.Args)
	if h.Key != nil {
		e.term(h.Key)
	}
	if h.Value != nil {
		e.term(h.Value)
	}
	e.body(r.Body)
	if r.Else != nil {
		e.rule(r.Else)
	}
}

func (e *encoder) at(l *ast.Location) {
	if l == nil {
		e.int(0)
		return
	}
	e.int(l.Row)
}

func (e *encoder) body(b ast.Body) {
	e.int(len(b))
	for _, x := range b {
		e.expr(x)
	}
}

func (e *encoder) expr(x *ast.Expr) {
	flags := byte(0)
	if x.Negated {
		flags |= exprNegated
	}
	if x.Generated {
		flags |= exprGenerated
	}
	if len(x.With) > 0 {
		flags |= exprWith
	}
	switch terms := x.Terms.(type) {
	case *ast.Term:
		e.byte(exprTerm | flags)
		e.at(x.Location)
		e.int(x.Index)
		e.term(terms)
	case []*ast.Term:
		e.byte(exprCall | flags)
		e.at(x.Location)
		e.int(x.Index)
		e.call(terms)
	case *ast.Every:
		e.byte(exprEvery | flags)
		e.at(x.Location)
		e.int(x.Index)
		e.bool(terms.Key != nil)
		if terms.Key != nil {
			e.term(terms.Key)
		}
		e.term(terms.Value)
		e.term(terms.Domain)
		e.body(terms.Body)
		e.at(terms.Location)
	default:
		e.fail("%T", terms)
	}
	if len(x.With) > 0 {
		e.int(len(x.With))
	}
	for _, w := range x.With {
		e.at(w.Location)
		e.term(w.Target)
		e.term(w.Value)
	}
}

func (e *encoder) terms(list []*ast.Term) {
	e.int(len(list))
	for _, t := range list {
		e.term(t)
	}
}

// call writes a function and its arguments. That parts of the function's name
// stand in a row of their own is of no use.
func (e *encoder) call(list []*ast.Term) {
	e.int(len(list))
	for i, t := range list {
		name, ok := t.Value.(ast.Ref)
		if i > 0 || !ok || !name.IsGround() {
			e.term(t)
			continue
		}
		one := &encoder{}
		one.byte(atomName)
		one.int(len(name))
		for _, part := range name {
			one.int(e.atomOf(part.Value))
		}
		e.kind(kindAtom, t)
		e.int(e.place(string(one.buf)))
	}
}

func (e *encoder) kind(kind byte, t *ast.Term) {
	row := 0
	if t.Location != nil {
		row = t.Location.Row
	}
	if row == e.row {
		e.byte(kind | sameRow)
		return
	}
	e.row = row
	e.byte(kind)
	e.int(row)
}

func (e *encoder) atomOf(v ast.Value) int {
	switch v := v.(type) {
	case ast.Number:
		return e.atom(atomNumber, string(v))
	case ast.String:
		return e.atom(atomString, string(v))
	case ast.Var:
		return e.atom(atomVar, string(v))
	}
	e.fail("%T", v)
	return 0
}

func (e *encoder) term(t *ast.Term) {
	switch v := t.Value.(type) {
	case ast.Null:
		e.kind(kindNull, t)
	case ast.Boolean:
		if v {
			e.kind(kindTrue, t)
		} else {
			e.kind(kindFalse, t)
		}
	case ast.Ref:
		e.kind(kindRef, t)
		e.terms(v)
	case ast.Call:
		e.kind(kindCall, t)
		e.call(v)
	case *ast.Array:
		e.kind(kindArray, t)
		e.int(v.Len())
		v.Foreach(e.term)
	case ast.Set:
		e.kind(kindSet, t)
		e.int(v.Len())
		v.Foreach(e.term)
	case ast.Object:
		e.kind(kindObject, t)
		e.int(v.Len())
		v.Foreach(func(key, value *ast.Term) {
			e.term(key)
			e.term(value)
		})
	case *ast.ArrayComprehension:
		e.kind(kindArrayOf, t)
		e.term(v.Term)
		e.body(v.Body)
	case *ast.SetComprehension:
		e.kind(kindSetOf, t)
		e.term(v.Term)
		e.body(v.Body)
	case *ast.ObjectComprehension:
		e.kind(kindObjectOf, t)
		e.term(v.Key)
		e.term(v.Value)
		e.body(v.Body)
	default:
		e.kind(kindAtom, t)
		e.int(e.atomOf(v))
	}
}
