package world

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"strings"
)

// Sizes of the parts of an index of git whose names of objects are SHA-1.
const (
	indexHead  = 12             // signature, version, number of entries
	indexHash  = 20             // a name of an object, and the sum at the end
	indexFixed = 40 + indexHash // of an entry, before its flags
	modeAt     = 24             // of an entry, where its mode stands
)

// Indexed calls f for each file that the index of a repository has, by its name below
// the top. A submodule is a commit of another repository in place of a file. It reports
// false where the index cannot be read as a whole. A repository without one has no files.
func (w World) Indexed(git string, f func(name string, submodule bool)) (whole bool) {
	index, err := w.Read(git+"/index", maxIndex)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	if len(index) < indexHead+indexHash || index[:4] != "DIRC" {
		return false
	}
	version, left := number(index[4:]), number(index[8:])
	rest, last := index[indexHead:len(index)-indexHash], ""
	if version < 2 || version > 4 {
		return false
	}
	for ; left > 0; left-- {
		if len(rest) < indexFixed+4 {
			return false
		}
		at := indexFixed + 2
		if version > 2 && rest[indexFixed]&0x40 != 0 { // flags that are longer
			at += 2
		}
		keeps := 0
		if version == 4 { // of the name before it a part counts on
			cut, n := lengthOf(rest[at:])
			if n == 0 || cut > len(last) {
				return false
			}
			at, keeps = at+n, len(last)-cut
		}
		size := strings.IndexByte(rest[at:], 0)
		if size < 0 {
			return false
		}
		name := last[:keeps] + rest[at:at+size]
		f(name, number(rest[modeAt:])&0o170000 == 0o160000)
		end := at + size + 1
		if version < 4 { // entries end at a multiple of 8
			end, name = (at+size+8)&^7, ""
		}
		if end > len(rest) {
			return false
		}
		rest, last = rest[end:], name
	}
	return !split(rest)
}

// split reports an extension that leads to another file with entries, or one that cannot
// be read.
func split(extensions string) bool {
	for len(extensions) > 0 {
		if len(extensions) < 8 || extensions[:4] == "link" {
			return true
		}
		size := uint64(number(extensions[4:])) + 8
		if size > uint64(len(extensions)) {
			return true
		}
		extensions = extensions[size:]
	}
	return false
}

func number(s string) uint32 { return binary.BigEndian.Uint32([]byte(s[:4])) }

// lengthOf reads a number as an index of version 4 writes it, and how many bytes it
// takes; 0 where it does not end.
func lengthOf(s string) (length, bytes int) {
	for i := range min(len(s), 4) {
		length += int(s[i] & 0x7f)
		if s[i]&0x80 == 0 {
			return length, i + 1
		}
		length = (length + 1) << 7
	}
	return 0, 0
}
