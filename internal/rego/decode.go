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

	file    string
	granted func(name string) bool // builtins that may be called; nil: all
	atoms   []ast.Value
	row     *ast.Location   // of the term before
	rows    []*ast.Location // by row

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

// decodeModule reads the section of one file, which may call what granted says,
// or anything if that is nil.
func decodeModule(f *savedFile, granted func(name string) bool) (*ast.Module, error) {
	d := &decoder{data: f.section, file: f.file, granted: granted}
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
