package repository

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"sort"
)

// An idx is a list of the objects of a pack, of version 2.
type idx struct {
	file  io.ReaderAt
	hexes int
	fan   [256]uint32
	count int64
	large int64 // how many offsets have eight bytes
}

const idxHead = 8 + 256*4

func readIdx(file io.ReaderAt, size int64, hexes int) (*idx, error) {
	var head [idxHead]byte
	if _, err := file.ReadAt(head[:], 0); err != nil || string(head[:8]) != "\xfftOc\x00\x00\x00\x02" {
		return nil, errors.New("it is no index of a pack, of version 2")
	}
	x := &idx{file: file, hexes: hexes}
	for i := range x.fan {
		x.fan[i] = binary.BigEndian.Uint32(head[8+4*i:])
		if i > 0 && x.fan[i] < x.fan[i-1] {
			return nil, errors.New("its objects are not in order")
		}
	}
	x.count = int64(x.fan[255])
	bytes := int64(hexes / 2)
	rest := size - idxHead - x.count*(bytes+8) - 2*bytes
	if rest < 0 || rest%8 != 0 || rest/8 > x.count {
		return nil, errors.New("it has another length than it says")
	}
	x.large = rest / 8
	return x, nil
}

// name is the name of an object by its number.
func (x *idx) name(i int64) (string, error) {
	raw := make([]byte, x.hexes/2)
	if _, err := x.file.ReadAt(raw, idxHead+i*int64(len(raw))); err != nil {
		return "", err
	}
	return hex.EncodeToString(raw), nil
}

// at is where an object lies in the pack.
func (x *idx) at(i int64) (int64, error) {
	var raw [8]byte
	table := idxHead + x.count*int64(x.hexes/2+4)
	if _, err := x.file.ReadAt(raw[:4], table+4*i); err != nil {
		return 0, err
	}
	value := int64(binary.BigEndian.Uint32(raw[:4]))
	if value < 1<<31 {
		return value, nil
	}
	if value -= 1 << 31; value >= x.large {
		return 0, errors.New("it leads beyond its end")
	}
	if _, err := x.file.ReadAt(raw[:], table+4*x.count+8*value); err != nil {
		return 0, err
	}
	if value = int64(binary.BigEndian.Uint64(raw[:])); value < 0 {
		return 0, errors.New("it leads beyond its end")
	}
	return value, nil
}

// find is the number of an object; -1 for none.
func (x *idx) find(name string) int64 {
	raw, err := hex.DecodeString(name)
	if err != nil || len(raw) != x.hexes/2 {
		return -1
	}
	low := int64(0)
	if raw[0] > 0 {
		low = int64(x.fan[raw[0]-1])
	}
	high := int64(x.fan[raw[0]])
	i := low + int64(sort.Search(int(high-low), func(i int) bool {
		at, err := x.name(low + int64(i))
		return err != nil || at >= name
	}))
	if at, err := x.name(i); i >= high || err != nil || at != name {
		return -1
	}
	return i
}

// A pack reads objects of a pack, each by its own.
type pack struct {
	file  io.ReaderAt
	size  int64
	index *idx
	left  *budget
	known map[int64]object // what was read last
	bytes int              // in known
}

type object struct {
	kind    string
	content []byte
}

const (
	mostKnown = 32 << 20 // bytes that are kept
	mostChain = 5000     // objects that one is told by the difference to; git makes 4095
	partCost  = 2 << 10  // bytes that reading a part counts as, however short it is
	knownCost = 128      // bytes that keeping an object takes, however short it is
)

// read returns an object by where it lies.
func (p *pack) read(at int64) (object, error) {
	var changes [][]byte
	var places []int64 // of the changes
	var base object
	bytes := 0
	for range mostChain {
		if known, ok := p.known[at]; ok {
			base = known
			break
		}
		kind, content, next, err := p.part(at)
		if err != nil {
			return object{}, err
		}
		if kind != "" {
			base = object{kind, content}
			break
		}
		if bytes += len(content); bytes > mostObject {
			break
		}
		changes, places, at = append(changes, content), append(places, at), next
	}
	if base.kind == "" {
		return object{}, errors.New("an object is told by too many differences")
	}
	for i := len(changes) - 1; i >= 0; i-- {
		content, err := apply(base.content, changes[i], p.left)
		if err != nil {
			return object{}, err
		}
		base.content = content
		p.keep(places[i], base) // a list may name none of those between
	}
	return base, nil
}

// keep remembers an object, for others may be told by the difference to it.
func (p *pack) keep(at int64, o object) {
	if len(o.content) > mostKnown {
		return
	}
	if _, ok := p.known[at]; ok {
		return
	}
	size := len(o.content) + knownCost
	if p.bytes += size; p.bytes > mostKnown || p.known == nil {
		p.known, p.bytes = map[int64]object{}, size
	}
	p.known[at] = o
}

// part reads what lies at a place: an object, or the difference to one that lies at base.
func (p *pack) part(at int64) (kind string, content []byte, base int64, err error) {
	if at < 12 || at >= p.size {
		return "", nil, 0, errors.New("it leads beyond the pack")
	}
	if *p.left -= partCost; *p.left < 0 {
		return "", nil, 0, errTooMuch
	}
	in := bufio.NewReader(io.NewSectionReader(p.file, at, p.size-at))
	b, err := in.ReadByte()
	if err != nil {
		return "", nil, 0, err
	}
	number, size, shift := b>>4&7, uint64(b&15), 4
	for ; b&0x80 != 0; shift += 7 {
		if b, err = in.ReadByte(); err != nil || shift > 50 {
			return "", nil, 0, errors.New("an object has no length")
		}
		size |= uint64(b&0x7f) << shift
	}
	switch number {
	case 1, 2, 3, 4:
		kind = [...]string{1: "commit", 2: "tree", 3: "blob", 4: "tag"}[number]
	case 6:
		ahead, _ := in.Peek(10)
		back, n := offset(ahead)
		if n == 0 || back == 0 || back > uint64(at) {
			return "", nil, 0, errors.New("an object is told by the difference to nothing")
		}
		in.Discard(n)
		base = at - int64(back)
	case 7:
		raw := make([]byte, p.index.hexes/2)
		if _, err := io.ReadFull(in, raw); err != nil {
			return "", nil, 0, err
		}
		i := p.index.find(hex.EncodeToString(raw))
		if i < 0 {
			return "", nil, 0, errors.New("an object is told by the difference to one that the pack lacks")
		}
		if base, err = p.index.at(i); err != nil {
			return "", nil, 0, err
		}
	default:
		return "", nil, 0, errors.New("an object is of no kind")
	}
	content, err = inflate(in, int64(size), p.left)
	return kind, content, base, err
}

// apply makes an object of another one and the difference.
func apply(base, change []byte, left *budget) ([]byte, error) {
	bad := errors.New("a difference fits nothing")
	from, n := length(change)
	if n == 0 || from != uint64(len(base)) {
		return nil, bad
	}
	change = change[n:]
	size, n := length(change)
	if *left -= budget(min(size, mostObject)); n == 0 || size > mostObject || *left < 0 {
		return nil, bad
	}
	change = change[n:]
	var out []byte
	for len(change) > 0 {
		op := change[0]
		change = change[1:]
		if op&0x80 == 0 {
			if op == 0 || int(op) > len(change) {
				return nil, bad
			}
			out, change = append(out, change[:op]...), change[op:]
		} else {
			var start, count uint32
			for i := range 7 {
				if op&(1<<i) == 0 {
					continue
				}
				if len(change) == 0 {
					return nil, bad
				}
				if i < 4 {
					start |= uint32(change[0]) << (8 * i)
				} else {
					count |= uint32(change[0]) << (8 * (i - 4))
				}
				change = change[1:]
			}
			if count == 0 {
				count = 0x10000
			}
			if uint64(start)+uint64(count) > uint64(len(base)) {
				return nil, bad
			}
			out = append(out, base[start:start+count]...)
		}
		if uint64(len(out)) > size {
			return nil, bad
		}
	}
	if uint64(len(out)) != size {
		return nil, bad
	}
	return out, nil
}

// length reads a number as differences have it, and how many bytes it takes; 0 for none.
func length(data []byte) (value uint64, n int) {
	for n < len(data) && n < 8 {
		b := data[n]
		value |= uint64(b&0x7f) << (7 * n)
		n++
		if b&0x80 == 0 {
			return value, n
		}
	}
	return 0, 0
}
