package repository

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"path"
	"slices"
	"strings"
	"unicode"
)

// newHash is the hash of a repository whose objects have names of so many hexadecimal digits.
func newHash(hexes int) hash.Hash {
	if hexes == 64 {
		return sha256.New()
	}
	return sha1.New()
}

// An entry is a path of an index.
type entry struct {
	path   string
	stat   [statBytes]byte // what git believes of the file: 36 bytes around the mode
	object string          // in bytes
	flags  uint16
	more   uint16 // of version 3 and 4
}

// The fields of an entry before its object, which are ten numbers of four bytes.
const (
	statBytes = 40
	modeAt    = 24
)

// Flags of an entry.
const (
	assumed  = 0x8000 // git never looks at the file
	extended = 0x4000
	skipped  = 0x4000 // of more: the file need not be there
	intended = 0x2000 // of more: the file is to be added
)

func (e *entry) mode() uint32 { return binary.BigEndian.Uint32(e.stat[modeAt:]) }

// changed is when the file was changed, in seconds and nanoseconds, as the index says.
func (e *entry) changed() uint64 { return binary.BigEndian.Uint64(e.stat[8:]) }

// size is the length of the file, as the index says.
func (e *entry) size() uint32 { return binary.BigEndian.Uint32(e.stat[36:]) }

// smudge has git compare the file instead of believing the index.
func (e *entry) smudge() {
	mode := e.mode()
	clear(e.stat[:])
	binary.BigEndian.PutUint32(e.stat[modeAt:], mode)
}

// mostPaths is how many bytes all paths of an index may have. Those of a million files have
// about a third of it.
const mostPaths = 256 << 20

// An index is what stands between a tree and the files.
type index struct {
	version uint32
	entries []entry
}

// readIndex reads an index whole. Every path must be one that git would take from a tree, in
// git's order. Extensions are not read: all but two only make git faster, or make it
// believe something. An index that is split or sparse is an error.
func readIndex(data []byte, hexes int) (*index, error) {
	size := hexes / 2
	if len(data) < 12+size || string(data[:4]) != "DIRC" {
		return nil, errors.New("it has no head")
	}
	x := &index{version: binary.BigEndian.Uint32(data[4:])}
	count := binary.BigEndian.Uint32(data[8:])
	if x.version < 2 || x.version > 4 {
		return nil, fmt.Errorf("its version is %d", x.version)
	}
	end := len(data) - size
	if uint64(count)*uint64(statBytes+size+3) > uint64(end) {
		return nil, errors.New("it is too short")
	}
	at := 12
	last := ""
	paths := 0 // bytes: in version 4 an entry of a few bytes can have a path of any length
	for range count {
		e, next, err := readEntry(data[:end], at, x.version, size, last)
		if err != nil {
			return nil, err
		}
		if paths += len(e.path); paths > mostPaths {
			return nil, errors.New("its paths are more than is looked at")
		}
		if n := len(x.entries); n > 0 && !before(&x.entries[n-1], &e) {
			return nil, errors.New("its paths are not in order")
		}
		x.entries = append(x.entries, e)
		at, last = next, e.path
	}
	for at < end {
		if end-at < 8 {
			return nil, errors.New("it has bytes that belong to nothing")
		}
		name, length := string(data[at:at+4]), int64(binary.BigEndian.Uint32(data[at+4:]))
		if name[0] < 'A' || name[0] > 'Z' || name == "link" {
			return nil, fmt.Errorf("it is split or sparse, by the extension %q", name)
		}
		if int64(end-at-8) < length {
			return nil, errors.New("an extension is too long")
		}
		at += 8 + int(length)
	}
	return x, nil
}

func readEntry(data []byte, at int, version uint32, size int, last string) (e entry, next int, err error) {
	short := errors.New("it ends within a path")
	start := at
	if len(data)-at < statBytes+size+2 {
		return e, 0, short
	}
	copy(e.stat[:], data[at:])
	at += statBytes
	e.object = string(data[at : at+size])
	at += size
	e.flags = binary.BigEndian.Uint16(data[at:])
	at += 2
	if e.flags&extended != 0 {
		if version == 2 || len(data)-at < 2 {
			return e, 0, short
		}
		e.more = binary.BigEndian.Uint16(data[at:])
		at += 2
	}
	keep := 0
	if version == 4 {
		drop, n := offset(data[at:])
		if n == 0 || drop > uint64(len(last)) {
			return e, 0, short
		}
		at += n
		keep = len(last) - int(drop)
	}
	length := bytes.IndexByte(data[at:], 0)
	if length < 0 {
		return e, 0, short
	}
	e.path = last[:keep] + string(data[at:at+length])
	at += length + 1
	if version < 4 {
		at = start + (at-1-start+8)/8*8
	}
	switch {
	case at > len(data):
		return e, 0, short
	case !isPath(e.path) || strings.EqualFold(path.Base(e.path), ".gitmodules") && e.mode() == 0o120000:
		return e, 0, fmt.Errorf("its path %q is none that git may write to", e.path)
	case !slices.Contains([]uint32{0o100644, 0o100755, 0o120000, 0o160000}, e.mode()):
		return e, 0, fmt.Errorf("%q has the mode %o", e.path, e.mode())
	}
	return e, at, nil
}

// before reports that two entries are in git's order.
func before(a, b *entry) bool {
	if c := strings.Compare(a.path, b.path); c != 0 {
		return c < 0
	}
	return a.flags&0x3000 < b.flags&0x3000
}

// offset reads a number as packs and indexes of version 4 have it, and how many bytes it
// takes; 0 for none.
func offset(data []byte) (value uint64, n int) {
	for n < len(data) && n < 9 {
		b := data[n]
		n++
		value |= uint64(b & 0x7f)
		if b&0x80 == 0 {
			return value, n
		}
		value = (value + 1) << 7
	}
	return 0, 0
}

// putOffset is the other way round.
func putOffset(value uint64) []byte {
	out := []byte{byte(value & 0x7f)}
	for value >>= 7; value != 0; value >>= 7 {
		value--
		out = append(out, 0x80|byte(value&0x7f))
	}
	slices.Reverse(out)
	return out
}

// bytes writes an index without extensions.
func (x *index) bytes(hexes int) []byte {
	out := append([]byte("DIRC"), 0, 0, 0, 0, 0, 0, 0, 0)
	version := x.version
	if version < 4 {
		version = 2
		if slices.ContainsFunc(x.entries, func(e entry) bool { return e.more != 0 }) {
			version = 3
		}
	}
	binary.BigEndian.PutUint32(out[4:], version)
	binary.BigEndian.PutUint32(out[8:], uint32(len(x.entries)))
	last := ""
	for i := range x.entries {
		e := &x.entries[i]
		start := len(out)
		flags := e.flags&^(extended|0xfff) | uint16(min(len(e.path), 0xfff))
		if e.more != 0 {
			flags |= extended
		}
		out = append(out, e.stat[:]...)
		out = append(out, e.object...)
		out = binary.BigEndian.AppendUint16(out, flags)
		if e.more != 0 {
			out = binary.BigEndian.AppendUint16(out, e.more)
		}
		if version == 4 {
			keep := 0
			for keep < min(len(last), len(e.path)) && last[keep] == e.path[keep] {
				keep++
			}
			out = append(append(append(out, putOffset(uint64(len(last)-keep))...), e.path[keep:]...), 0)
		} else {
			out = append(out, e.path...)
			out = append(out, make([]byte, 8-(len(out)-start)%8)...)
		}
		last = e.path
	}
	h := newHash(hexes)
	h.Write(out)
	return h.Sum(out)
}

// same reports that two indexes name the same files with the same content and marks.
func (x *index) same(y *index) bool {
	return slices.EqualFunc(x.entries, y.entries, func(a, b entry) bool {
		return a.path == b.path && a.object == b.object && a.mode() == b.mode() && a.flags&(assumed|0x3000) == b.flags&(assumed|0x3000) && a.more&(skipped|intended) == b.more&(skipped|intended)
	})
}

// settle makes an index one that a person's git may believe. Of an entry that the old one
// does not have exactly so, git must look at the file, unless trusted says that it is as
// the entry says. So it must where the file is as young as the old index, which was written
// at since: seconds and nanoseconds in one number, as entries have them. Marks that keep git from looking at a file are taken away where they
// are new; unmarked counts them.
func (x *index) settle(old *index, since uint64, trusted func(e *entry) bool) (unmarked int) {
	had := map[string]*entry{}
	for i := range old.entries {
		had[old.entries[i].path] = &old.entries[i]
	}
	for i := range x.entries {
		e := &x.entries[i]
		was := had[e.path]
		if was == nil {
			was = &entry{}
		}
		if e.flags&^was.flags&assumed != 0 || e.more&^was.more&skipped != 0 {
			unmarked++
			e.flags &^= assumed &^ was.flags
			e.more &^= skipped &^ was.more
		}
		e.more &= skipped | intended
		if (e.stat != was.stat || e.object != was.object || e.changed() >= since) && !trusted(e) {
			e.smudge()
		}
	}
	return unmarked
}

// isPath reports a path that git takes from a tree: it leads down, and into no directory of
// git's own, on any file system.
func isPath(name string) bool {
	if name == "" || len(name) > 4096 {
		return false
	}
	for step := range strings.SplitSeq(name, "/") {
		if step == "" || step == "." || step == ".." {
			return false
		}
		for part := range strings.SplitSeq(step, `\`) { // as Windows has it
			if isDotGit(part) {
				return false
			}
		}
	}
	return true
}

// isDotGit reports a name that some file system takes for .git: in other letters, with
// characters that do not show, with an end that Windows leaves out, or its short one there.
func isDotGit(name string) bool {
	if first := name + "x"; first[0] < 0x80 && first[0] != '.' && first[0] != 'g' && first[0] != 'G' {
		return false // nearly all names, quickly
	}
	name = strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name))
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	return name == ".git" || name == "git~1"
}
