package rego

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/open-policy-agent/opa/v1/ast"
)

var errDamaged = errors.New("the snapshot is damaged")

// maxDepth bounds how deep what a snapshot holds may be nested.
const maxDepth = 10 * maxNesting

// fewAtOnce bounds what is set aside for elements that have not been read yet:
// lists within lists could each claim the rest of the data.
const fewAtOnce = 32

// maxRows is how many rows a file can have that is not too large.
const maxRows = maxModule + 1

// A decoder reads the head or a section of a snapshot. After damage it reads
// nothing but zeros, so that every loop ends; what it takes of memory is bounded
// by what there is to read.
type decoder struct {
	data  string
	at    int
	err   error
	depth int

	file  string
	atoms []ast.Value
	row   *ast.Location   // of the term before
	rows  []*ast.Location // by row

	// What is small and many is made many at a time.
	spareTerms []ast.Term
	spareExprs []ast.Expr
	spareSlots []*ast.Term
}

func (d *decoder) damaged() {
	d.err, d.at = errDamaged, len(d.data)
}

func (d *decoder) raw(n int) string {
	if n > len(d.data)-d.at {
		d.damaged()
		return ""
	}
	s := d.data[d.at : d.at+n]
	d.at += n
	return s
}

func (d *decoder) byte() byte {
	if s := d.raw(1); s != "" {
		return s[0]
	}
	return 0
}

func (d *decoder) bool() bool { return d.byte() != 0 }

func (d *decoder) sum() uint32 {
	s := d.raw(4)
	if d.err != nil {
		return 0
	}
	return binary.LittleEndian.Uint32([]byte(s))
}

// int reads a number, which is never negative.
func (d *decoder) int() int {
	n := uint64(0)
	for shift := 0; shift < 35; shift += 7 {
		b := d.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if n > math.MaxInt32 {
				break
			}
			return int(n)
		}
	}
	d.damaged()
	return 0
}

// count reads how many things follow; each takes a byte at least.
func (d *decoder) count() int {
	n := d.int()
	if n > len(d.data)-d.at {
		d.damaged()
		return 0
	}
	return n
}

func (d *decoder) text() string { return d.raw(d.int()) }

// decodeModule reads the section of one file.
func decodeModule(f *savedFile) (*ast.Module, error) {
	d := &decoder{data: f.section, file: f.file}
	m := &ast.Module{Package: &ast.Package{Path: packageRef(f.pkg)}}
	d.readAtoms()
	for range d.count() {
		if d.err != nil {
			break
		}
		m.Rules = append(m.Rules, d.rule(m))
	}
	if d.err == nil && d.at != len(d.data) {
		d.damaged()
	}
	return m, d.err
}

func (d *decoder) readAtoms() {
	n := d.count()
	d.atoms = make([]ast.Value, 0, n)
	for range n {
		var v ast.Value
		switch d.byte() {
		case atomNumber:
			v = ast.Number(d.text())
		case atomString:
			v = ast.String(d.text())
		case atomVar:
			v = ast.Var(d.text())
		case atomName:
			name := make(ast.Ref, d.count())
			for i := range name {
				name[i] = ast.NewTerm(d.atom())
			}
			if len(name) == 0 {
				d.damaged()
			}
			v = name
		default:
			d.damaged()
		}
		if d.err != nil {
			return
		}
		d.atoms = append(d.atoms, v)
	}
}

// atom reads the place of an atom.
func (d *decoder) atom() ast.Value {
	i := d.int()
	if i >= len(d.atoms) {
		d.damaged()
	}
	if d.err != nil {
		return ast.NullValue
	}
	return d.atoms[i]
}

func (d *decoder) name() ast.Var {
	v, ok := d.atom().(ast.Var)
	if !ok {
		d.damaged()
	}
	return v
}

// enter counts one more level of nesting; leave takes it back.
func (d *decoder) enter() {
	if d.depth++; d.depth > maxDepth {
		d.damaged()
	}
}

func (d *decoder) leave() { d.depth-- }

func (d *decoder) rule(m *ast.Module) *ast.Rule {
	d.enter()
	defer d.leave()
	parts := d.int()
	r := &ast.Rule{Module: m, Default: parts&ruleDefault != 0, Location: d.location()}
	h := &ast.Head{Assign: parts&ruleAssign != 0, Location: d.location(), Name: d.name()}
	h.Reference = d.terms()
	if args := d.terms(); len(args) > 0 {
		h.Args = args
	}
	if parts&ruleKey != 0 {
		h.Key = d.term()
	}
	if parts&ruleValue != 0 {
		h.Value = d.term()
	}
	r.Head, r.Body = h, d.body()
	if parts&ruleElse != 0 && d.err == nil {
		r.Else = d.rule(m)
	}
	if len(h.Reference) == 0 {
		d.damaged()
	} else if _, ok := h.Reference[0].Value.(ast.Var); !ok {
		d.damaged()
	}
	return r
}

// location reads a row. All that stands in one row has one location: columns
// are of no use to anybody who runs policies.
func (d *decoder) location() *ast.Location { return d.inRow(d.int()) }

func (d *decoder) inRow(row int) *ast.Location {
	if row == 0 {
		return nil
	}
	if row >= maxRows {
		d.damaged()
		return nil
	}
	for len(d.rows) <= row {
		d.rows = append(d.rows, nil)
	}
	if d.rows[row] == nil {
		d.rows[row] = &ast.Location{File: d.file, Row: row, Col: 1}
	}
	return d.rows[row]
}

func (d *decoder) body() ast.Body {
	d.enter()
	defer d.leave()
	n := d.count()
	body := make(ast.Body, 0, min(n, fewAtOnce))
	for range n {
		if d.err != nil {
			break
		}
		body = append(body, d.expr())
	}
	return body
}

func (d *decoder) expr() *ast.Expr {
	kind := d.byte()
	if len(d.spareExprs) == 0 {
		d.spareExprs = make([]ast.Expr, 16)
	}
	x := &d.spareExprs[0]
	d.spareExprs = d.spareExprs[1:]
	x.Negated, x.Generated, x.Location, x.Index = kind&exprNegated != 0, kind&exprGenerated != 0, d.location(), d.int()
	switch kind &^ (exprNegated | exprGenerated) {
	case exprTerm:
		x.Terms = d.term()
	case exprCall:
		terms := d.terms()
		if len(terms) == 0 {
			d.damaged()
		}
		x.Terms = terms
	case exprEvery:
		every := &ast.Every{}
		if d.bool() {
			every.Key = d.term()
		}
		every.Value, every.Domain, every.Body = d.term(), d.term(), d.body()
		every.Location = d.location()
		x.Terms = every
	default:
		d.damaged()
	}
	return x
}

func (d *decoder) terms() []*ast.Term {
	n := d.count()
	list := d.slots(n)
	for range n {
		if d.err != nil {
			return nil
		}
		list = append(list, d.term())
	}
	return list
}

// slots returns room for n terms, or for the first of them if they are many.
func (d *decoder) slots(n int) []*ast.Term {
	n = min(n, fewAtOnce)
	if len(d.spareSlots) < n {
		d.spareSlots = make([]*ast.Term, 4*fewAtOnce)
	}
	list := d.spareSlots[:0:n]
	d.spareSlots = d.spareSlots[n:]
	return list
}

func (d *decoder) term() *ast.Term {
	d.enter()
	defer d.leave()
	if len(d.spareTerms) == 0 {
		d.spareTerms = make([]ast.Term, 64)
	}
	t := &d.spareTerms[0]
	d.spareTerms = d.spareTerms[1:]
	kind := d.byte()
	if kind&sameRow == 0 {
		d.row = d.location()
	}
	t.Location, t.Value = d.row, d.value(kind&^sameRow)
	return t
}

func (d *decoder) value(kind byte) ast.Value {
	switch kind {
	case kindNull:
		return ast.NullValue
	case kindFalse:
		return ast.Boolean(false)
	case kindTrue:
		return ast.Boolean(true)
	case kindAtom:
		return d.atom()
	case kindRef:
		return ast.Ref(d.some())
	case kindCall:
		return ast.Call(d.some())
	case kindArray:
		return ast.NewArray(d.terms()...)
	case kindSet:
		return ast.NewSet(d.terms()...)
	case kindObject:
		return d.object()
	case kindArrayOf:
		return &ast.ArrayComprehension{Term: d.term(), Body: d.body()}
	case kindSetOf:
		return &ast.SetComprehension{Term: d.term(), Body: d.body()}
	case kindObjectOf:
		return &ast.ObjectComprehension{Key: d.term(), Value: d.term(), Body: d.body()}
	}
	d.damaged()
	return ast.NullValue
}

// some reads one term or more.
func (d *decoder) some() []*ast.Term {
	list := d.terms()
	if len(list) == 0 {
		d.damaged()
	}
	return list
}

func (d *decoder) object() ast.Value {
	n := d.count()
	items := make([][2]*ast.Term, 0, min(n, fewAtOnce))
	for range n {
		if d.err != nil {
			break
		}
		items = append(items, ast.Item(d.term(), d.term()))
	}
	return ast.NewObject(items...)
}
