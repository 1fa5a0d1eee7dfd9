package artifact

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// An encoder writes a section. The first thing that cannot be written stays in
// err.
type encoder struct {
	buf []byte
	err error
}

func (e *encoder) byte(b byte)      { e.buf = append(e.buf, b) }
func (e *encoder) fixed(n uint32)   { e.buf = binary.LittleEndian.AppendUint32(e.buf, n) }
func (e *encoder) uint(n uint64)    { e.buf = binary.AppendUvarint(e.buf, n) }
func (e *encoder) signed(n int64)   { e.buf = binary.AppendVarint(e.buf, n) }
func (e *encoder) int(n int)        { e.uint(uint64(n)) }
func (e *encoder) text(s string)    { e.int(len(s)); e.buf = append(e.buf, s...) }
func (e *encoder) bool(b bool)      { e.byte(map[bool]byte{true: 1}[b]) }
func (e *encoder) texts(s []string) { listOf(e, s, e.text) }
func (e *encoder) ints(n []int)     { listOf(e, n, e.int) }

func (e *encoder) time(t time.Time) {
	if t.IsZero() {
		e.signed(0)
		e.int(0)
		return
	}
	e.signed(t.Unix())
	e.int(t.Nanosecond())
}

func listOf[V any](e *encoder, list []V, write func(V)) {
	e.int(len(list))
	for _, v := range list {
		write(v)
	}
}

func writeMap[V any](e *encoder, m map[string]V, write func(V)) {
	e.int(len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		e.text(key)
		write(m[key])
	}
}

func writePointer[V any](e *encoder, p *V, write func(V)) {
	e.bool(p != nil)
	if p != nil {
		write(*p)
	}
}

func (e *encoder) tree(m map[string]any) {
	e.bool(m != nil)
	if m != nil {
		e.value(m)
	}
}

func (e *encoder) value(v any) {
	switch v := v.(type) {
	case nil:
		e.byte(valueNull)
	case bool:
		e.byte(map[bool]byte{false: valueFalse, true: valueTrue}[v])
	case json.Number:
		e.byte(valueNumber)
		e.text(string(v))
	case int64:
		e.byte(valueInt)
		e.signed(v)
	case float64:
		e.byte(valueFloat)
		e.text(strconv.FormatFloat(v, 'g', -1, 64))
	case string:
		e.byte(valueText)
		e.text(v)
	case []any:
		e.byte(valueList)
		listOf(e, v, e.value)
	case map[string]any:
		e.byte(valueTree)
		writeMap(e, v, e.value)
	default:
		if e.err == nil {
			e.err = fmt.Errorf("a %T has no compiled form", v)
		}
	}
}
