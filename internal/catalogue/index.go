package catalogue

import (
	_ "embed"
	"sort"
	"strings"
)

// The rows as the program has them: each in one line, with all its names and
// without lists. The files that people read (*.rows) are where they come from;
// TestGenerated writes both texts and keeps them true.
var (
	//go:embed catalogue.compact
	compactRows string

	// compactIndex says where the rows of a name lie, so that a call pays for the
	// programs it names and not for all: entries in the order of their hashes.
	//
	//go:embed catalogue.index
	compactIndex string
)

// An indexEntry is what the index holds of a name: where its row is. Names stand
// in the rows only.
type indexEntry struct {
	hash   uint32 // of the name
	offset uint32 // of the row's line, 24 bits
	length uint16 // of that line
}

const entrySize = 9

// entryAt reads the entry with which a text begins.
func entryAt(s string) indexEntry {
	_ = s[entrySize-1]
	return indexEntry{
		hash:   uint32(s[0])<<24 | uint32(s[1])<<16 | uint32(s[2])<<8 | uint32(s[3]),
		offset: uint32(s[4])<<16 | uint32(s[5])<<8 | uint32(s[6]), length: uint16(s[7])<<8 | uint16(s[8]),
	}
}

// hashName is FNV-1a. Names that share a hash are told apart by their rows.
func hashName(name string) uint32 {
	h := uint32(2166136261)
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * 16777619
	}
	return h
}

// find returns the text of a name's row, "" when there is none.
func find(name string) string {
	at := func(i int) indexEntry { return entryAt(compactIndex[i*entrySize:]) }
	n, hash := len(compactIndex)/entrySize, hashName(name)
	for i := sort.Search(n, func(i int) bool { return at(i).hash >= hash }); i < n && at(i).hash == hash; i++ {
		e := at(i)
		line := compactRows[e.offset : e.offset+uint32(e.length)]
		if names, row, ok := strings.Cut(line, " {"); ok && inList(names, name) {
			return line[len(line)-len(row)-1:]
		}
	}
	return ""
}

func inList(names, name string) bool {
	for n := range strings.SplitSeq(names, ",") {
		if n == name {
			return true
		}
	}
	return false
}
