package artifact

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"
)

// A file is a table and sections. The table holds where each section stands and
// its checksum, so that a section costs nothing until it is used, and a file
// that is cut off or damaged is found out. The checksums find accidents; malice
// is for the owner of the directory to keep out.
const (
	magic       = "gate artifact 10\n"
	maxSections = 4 + 6*200
)

// The sections in front. Those of the parts follow, six each: index of the
// hooks, hooks, routes, program, data, saved.
const (
	sectionHead = iota
	sectionStamps
	sectionLayers
	sectionSchemas
	sectionFirst
)

type section struct{ at, size, sum uint32 }

func (s section) text(data string) string { return data[s.at : s.at+s.size] }

// checksum is the half of a hash that needs no table, which each process would
// have to make.
func checksum(data string) uint32 { return uint32(xxhash.Sum64String(data)) }

// readTable reads where the sections stand.
func (a *Artifact) readTable() error {
	d := &decoder{data: a.data}
	if d.raw(len(magic)) != magic {
		return fmt.Errorf("%w: it is of another version of gate, or no compiled form at all", ErrStale)
	}
	n := int(d.fixed())
	if n < sectionFirst || n > maxSections {
		return errDamaged
	}
	at := d.at + 12*n + 4
	a.sections = make([]section, n)
	for i := range n {
		s := section{at: uint32(at), size: d.fixed(), sum: d.fixed()}
		d.fixed() // room
		if int64(s.size) > int64(len(a.data)-at) {
			return errDamaged
		}
		at += int(s.size)
		a.sections[i] = s
	}
	if sum := checksum(a.data[:min(d.at, len(a.data))]); d.fixed() != sum || d.err != nil || at != len(a.data) {
		return errDamaged
	}
	return nil
}

// sound reports that a text is as it was written. What is embedded is as sound as
// the program that it is a part of.
func (a *Artifact) sound(text string, sum uint32) bool {
	return a.content.Kind == Library || checksum(text) == sum
}

// open returns a reader of a section that is as it was written.
func (a *Artifact) open(n int) (*decoder, error) {
	s := a.sections[n]
	text := s.text(a.data)
	if !a.sound(text, s.sum) {
		return nil, errDamaged
	}
	return &decoder{data: text}, nil
}

// A decoder reads a section. The first thing that does not fit stays in err, and
// everything after it is zero.
type decoder struct {
	data string
	at   int
	err  error
}

func (d *decoder) damaged() {
	if d.err == nil {
		d.err = errDamaged
	}
	d.at = len(d.data)
}

// end is the error of a section, which must have been read to its end.
func (d *decoder) end() error {
	if d.at != len(d.data) {
		d.damaged()
	}
	return d.err
}

func (d *decoder) raw(n int) string {
	if n < 0 || n > len(d.data)-d.at {
		d.damaged()
		return ""
	}
	d.at += n
	return d.data[d.at-n : d.at]
}

// byte has many callers: copied into them it takes several pages of each call.
//
//go:noinline
func (d *decoder) byte() byte {
	if s := d.raw(1); s != "" {
		return s[0]
	}
	return 0
}

func (d *decoder) bool() bool { return d.byte() == 1 }

func (d *decoder) fixed() uint32 {
	s := d.raw(4)
	if len(s) < 4 {
		return 0
	}
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func (d *decoder) uint() uint64 {
	var n uint64
	for shift := 0; shift < 64; shift += 7 {
		b := d.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	d.damaged()
	return 0
}

func (d *decoder) signed() int64 {
	n := d.uint()
	return int64(n>>1) ^ -int64(n&1)
}

func (d *decoder) int() int {
	n := d.uint()
	if n > math.MaxInt32 {
		d.damaged()
		return 0
	}
	return int(n)
}

// count reads how many things follow, of at least a byte each.
func (d *decoder) count() int {
	n := d.int()
	if n > len(d.data)-d.at {
		d.damaged()
		return 0
	}
	return n
}

func (d *decoder) text() string { return d.raw(d.int()) }

func (d *decoder) texts() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = d.text()
	}
	return list
}

func (d *decoder) ints() []int {
	n := d.count()
	if n == 0 {
		return nil
	}
	list := make([]int, n)
	for i := range list {
		list[i] = d.int()
	}
	return list
}

func (d *decoder) time() time.Time {
	seconds, nano := d.signed(), d.int()
	if seconds == 0 && nano == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, int64(nano)).UTC()
}

// Kinds of values.
const (
	valueNull byte = iota
	valueFalse
	valueTrue
	valueNumber // as it was written
	valueInt
	valueFloat
	valueText
	valueList
	valueTree
	valueNilTree
)

// maxDepth bounds values within values; what is loaded is bounded to less.
const maxDepth = 200

func (d *decoder) value(depth int) any {
	if depth > maxDepth {
		d.damaged()
		return nil
	}
	switch d.byte() {
	case valueNull:
		return nil
	case valueFalse:
		return false
	case valueTrue:
		return true
	case valueNumber:
		return json.Number(d.text())
	case valueInt:
		return d.signed()
	case valueFloat:
		f, err := strconv.ParseFloat(d.text(), 64)
		if err != nil {
			d.damaged()
		}
		return f
	case valueText:
		return d.text()
	case valueList:
		list := make([]any, d.count())
		for i := range list {
			list[i] = d.value(depth + 1)
		}
		return list
	case valueTree:
		n := d.count()
		tree := make(map[string]any, n)
		for range n {
			key := d.text()
			tree[key] = d.value(depth + 1)
		}
		return tree
	}
	d.damaged()
	return nil
}

// tree reads an object, nil for none.
func (d *decoder) tree() map[string]any {
	if d.byte() == 0 {
		return nil
	}
	tree, ok := d.value(0).(map[string]any)
	if !ok {
		d.damaged()
	}
	return tree
}

// mapOf reads a map, nil if it is empty.
func mapOf[V any](d *decoder, value func() V) map[string]V {
	n := d.count()
	if n == 0 {
		return nil
	}
	m := make(map[string]V, n)
	for range n {
		key := d.text()
		m[key] = value()
	}
	return m
}

// pointer reads what may be missing.
func pointer[V any](d *decoder, value func() V) *V {
	if !d.bool() {
		return nil
	}
	v := value()
	return &v
}

// readList reads a list, nil if it is empty.
func readList[V any](d *decoder, read func() V) []V {
	n := d.count()
	if n == 0 {
		return nil
	}
	list := make([]V, n)
	for i := range list {
		list[i] = read()
	}
	return list
}
