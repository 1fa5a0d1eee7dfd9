package code

import (
	"strings"
	"sync"
)

// Marks are the kinds of pieces that [Lineage] looks for in a text, as bits.
type marks uint16

const (
	homeMark marks = 1 << iota
	fileMark
	cacheMark
	postMark
	awayMark
	evalMark
	fetchMark
	encodeMark
	outMark
	deleteMark
	environmentMark
	tableMark
	lookupMark
	keyMark
)

// Words are the kinds of functions and programs that [Lineage] knows, as bits.
type words uint8

const (
	deleteWord words = 1 << iota
	sendWord
	requestWord
	socketWord
	readWord
	pushWord
)

// A marker finds the pieces of all kinds in one pass over a text: there are some hundreds.
type marker struct {
	begins [1 << 10]uint64 // a bit for each two bytes that a piece begins with
	pieces [256][]piece    // by the first byte
}

type piece struct {
	text string
	is   marks
}

var lineageMarker = sync.OnceValue(func() *marker {
	m := &marker{}
	for _, list := range []struct {
		pieces string
		is     marks
	}{
		{homeMarks, homeMark}, {fileMarks, fileMark}, {cacheMarks, cacheMark}, {postMarks, postMark}, {awayMarks, awayMark},
		{evalMarks, evalMark}, {fetchMarks, fetchMark}, {encodeMarks, encodeMark}, {outMarks, outMark}, {deleteMarks, deleteMark},
		{environmentMarks, environmentMark}, {environmentNames, tableMark}, {lookupMarks, lookupMark}, {Key, keyMark},
	} {
		for text := range strings.SplitSeq(list.pieces, "|") {
			m.add(piece{text, list.is})
		}
	}
	return m
})

func (m *marker) add(p piece) {
	m.pieces[p.text[0]] = append(m.pieces[p.text[0]], p)
	for second := range 256 {
		if len(p.text) == 1 || p.text[1] == byte(second) {
			pair := int(p.text[0])<<8 | second
			m.begins[pair>>6] |= 1 << (pair & 63)
		}
	}
}

// marksOf are the kinds of pieces that a text has.
//
//go:noinline
func marksOf(text string) (found marks) {
	m := lineageMarker()
	for i := range len(text) {
		pair := int(text[i]) << 8
		if i+1 < len(text) {
			pair |= int(text[i+1])
		}
		if m.begins[pair>>6]&(1<<(pair&63)) == 0 {
			continue
		}
		for _, p := range m.pieces[text[i]] {
			if found&p.is == 0 && strings.HasPrefix(text[i:], p.text) {
				found |= p.is
			}
		}
	}
	return found
}

var lineageWords = sync.OnceValue(func() map[string]words {
	m := map[string]words{}
	for _, list := range []struct {
		words string
		is    words
	}{{deleteWords, deleteWord}, {sendWords, sendWord}, {requestWords, requestWord}, {socketWords, socketWord}, {readWords, readWord}, {pushWords, pushWord}} {
		for w := range strings.FieldsSeq(list.words) {
			m[w] |= list.is
		}
	}
	return m
})

// wordsOf are the kinds of words in a statement, also within a text: as an argument one may
// be the program that runs.
//
//go:noinline
func wordsOf(s string) (found words) {
	known := lineageWords()
	eachWord(s, func(w string) {
		is, ok := known[w]
		if !ok && len(w) >= longWord && found&deleteWord == 0 && namesDeletion(w) {
			is = deleteWord
		}
		found |= is
	})
	return found
}

// longWord is from how many letters on a function that deletes is known by its name.
const longWord = 7

// namesDeletion reports a name such as DeleteTree, remove_path_forcibly and rmdirRecurse.
func namesDeletion(w string) bool {
	c := w[0] | 0x20
	if c != 'r' && c != 'd' && c != 'w' && c != 'p' && c != 'u' && c != 'e' && c != '_' && c != 'n' && c != 'f' {
		return false
	}
	w = strings.TrimLeft(strings.ToLower(w), "_")
	for _, verb := range []string{"remove", "delete", "unlink", "rm", "wipe", "purge", "erase", "nuke", "forcedelete", "force_delete"} {
		if rest, ok := strings.CutPrefix(w, verb); ok {
			rest = strings.Trim(rest, "_")
			for _, what := range []string{"all", "dir", "tree", "file", "rec", "path", "folder", "item", "child", "entr", "content", "deep", "quiet", "force"} {
				if strings.HasPrefix(rest, what) && !strings.Contains(rest, "listener") {
					return true
				}
			}
		}
	}
	return false
}

// requests reports a statement with one of the words that make requests, less those of
// databases in a file.
func requests(s string, does words) bool {
	if does&requestWord == 0 {
		return false
	}
	for _, local := range []string{"sqlite3.connect", "duckdb.connect"} {
		if strings.Contains(s, local) {
			return wordsOf(strings.NewReplacer("sqlite3.connect", "", "duckdb.connect", "").Replace(s))&requestWord != 0
		}
	}
	return true
}

// withoutAlias takes ~/ out of the names of modules: bundlers have it for the directory of
// the sources.
func withoutAlias(text string) string {
	at := strings.Index(text, "~/")
	if at < 0 {
		return text
	}
	var b strings.Builder
	done := 0
	for ; at >= 0; at = indexFrom(text, "~/", at+2) {
		if at > 0 && strings.IndexByte("\"'`", text[at-1]) >= 0 && namesModule(strings.TrimRight(text[done:at-1], " \t\n\f\r")) {
			b.WriteString(text[done:at] + ".")
			done = at + 1
		}
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

func indexFrom(s, piece string, from int) int {
	i := strings.Index(s[from:], piece)
	if i < 0 {
		return -1
	}
	return from + i
}

// namesModule reports a text whose end is about to name a module.
func namesModule(before string) bool {
	for _, word := range []string{"from", "import", "import(", "require(", "mock(", "resolve("} {
		if rest, ok := strings.CutSuffix(before, word); ok && (rest == "" || !nameByte(rest[len(rest)-1]) || rest[len(rest)-1] == '$') {
			return true
		}
	}
	return false
}
