package catalogue

import (
	"sort"
	"strings"
)

// An indexEntry is what the index holds of a name: where its row is. Names stand
// in the rows only.
type indexEntry struct {
	hash   uint32 // of the name
	file   uint8  // its place in the index's first line
	offset uint32 // of the row's line in the file, 24 bits
	length uint16 // of that line
}

const entrySize = 10

// bytes is the entry as the index has it, the highest byte first.
func (e indexEntry) bytes() []byte {
	return []byte{
		byte(e.hash >> 24), byte(e.hash >> 16), byte(e.hash >> 8), byte(e.hash), e.file,
		byte(e.offset >> 16), byte(e.offset >> 8), byte(e.offset), byte(e.length >> 8), byte(e.length),
	}
}

// entryAt reads the entry with which a text begins.
func entryAt(s string) indexEntry {
	_ = s[entrySize-1]
	return indexEntry{
		hash: uint32(s[0])<<24 | uint32(s[1])<<16 | uint32(s[2])<<8 | uint32(s[3]), file: s[4],
		offset: uint32(s[5])<<16 | uint32(s[6])<<8 | uint32(s[7]), length: uint16(s[8])<<8 | uint16(s[9]),
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
func (c *Catalogue) find(name string) string {
	files, entries, _ := strings.Cut(c.index, "\n")
	at := func(i int) indexEntry { return entryAt(entries[i*entrySize:]) }
	n, hash := len(entries)/entrySize, hashName(name)
	for i := sort.Search(n, func(i int) bool { return at(i).hash >= hash }); i < n && at(i).hash == hash; i++ {
		if names, text, ok := cutRow(rowLine(files, at(i))); ok && inList(names, name) {
			return text
		}
	}
	return ""
}

// rowLine is the line that an entry points at, "" if there is none: TestIndex
// compares the index with the rows.
func rowLine(files string, e indexEntry) string {
	for ; e.file > 0; e.file-- {
		_, files, _ = strings.Cut(files, " ")
	}
	file, _, _ := strings.Cut(files, " ")
	rows, from, length := rowsOf(file), int(e.offset), int(e.length)
	if from+length > len(rows) {
		return ""
	}
	return rows[from : from+length]
}

// cutRow tells the names of a row, with commas between them, from its text.
func cutRow(line string) (names, text string, ok bool) {
	names, _, ok = strings.Cut(line, " {")
	if !ok || strings.HasPrefix(names, "#") {
		return "", "", false
	}
	return names, strings.TrimSpace(line[len(names):]), true
}

func inList(names, name string) bool {
	for n := range strings.SplitSeq(names, ",") {
		if strings.TrimSpace(n) == name {
			return true
		}
	}
	return false
}
