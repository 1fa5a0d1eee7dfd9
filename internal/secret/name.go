package secret

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed names.rows
var nameRows string

// Name says what the name of a variable, option, header or key promises: Named,
// Address, Masked or None.
func Name(name string) Grade {
	var b [64]byte
	n := 0
	for i := range len(name) {
		c := name[i]
		if c == '_' || c == '-' || c == '.' {
			continue
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if n == len(b) {
			copy(b[:], b[1:]) // the end of a name says what it is
			n--
		}
		b[n] = c
		n++
	}
	return words().of(string(b[:n]), name)
}

// Variable reports whether programs expect a secret in the environment under this
// name. Case does not matter.
func Variable(name string) bool { return Name(strings.ToUpper(name)) >= Address }

// Promises reports whether a name says that the whole value under it is a secret.
func Promises(name string) bool {
	g := Name(name)
	return g == Named || g == Masked
}

// Known are assignments to variables that many machines have and that hold
// secrets, a line each: what of an environment a search for them must not find.
var Known = sync.OnceValue(func() string {
	_, list, _ := strings.Cut(nameRows, "\nknown | is | ")
	list, _, _ = strings.Cut(list, "\n")
	return strings.ReplaceAll(list, " ", "=x\n") + "=x\n"
})

// An entry is a word of names.rows.
type entry struct {
	text  string
	where string // holds, ends, is
	grade Grade
	row   int // the first row that fits counts
}

// A lexicon holds the words, of two bytes and more, by the first, and says with which
// two bytes one begins.
type lexicon struct {
	words  ['z' + 1][]entry
	begins ['z' + 1]['z' + 1]bool
}

// words reads names.rows, when a name is looked at for the first time.
var words = sync.OnceValue(func() *lexicon {
	var l lexicon
	row := 0
	for line := range strings.Lines(nameRows) {
		grade, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		where, list, _ := strings.Cut(rest, " | ")
		if !ok || line[0] == '#' || grade == "known" {
			continue
		}
		row++
		for text := range strings.FieldsSeq(list) {
			l.words[text[0]] = append(l.words[text[0]], entry{text, where, gradeOf(grade), row})
			l.begins[text[0]][text[1]] = true
		}
	}
	return &l
})

// of finds the first row that fits a name: compact without separators and case, and
// as it is written.
func (l *lexicon) of(compact, written string) Grade {
	best := &entry{row: 1 << 30}
	for i := 0; i+1 < len(compact); i++ {
		if c, next := compact[i], compact[i+1]; c <= 'z' && next <= 'z' && l.begins[c][next] {
			list := l.words[c]
			for k := range list {
				if w := &list[k]; w.text[1] == next && w.row < best.row && w.fits(compact, i) {
					best = w
				}
			}
		}
	}
	for k := range l.words['_'] {
		if w := &l.words['_'][k]; w.row < best.row && strings.HasSuffix(written, w.text) {
			best = w
		}
	}
	return best.grade
}

// fits reports that the word stands at one place of a name, where its row wants it.
func (w *entry) fits(name string, at int) bool {
	if !strings.HasPrefix(name[at:], w.text) {
		return false
	}
	switch w.where {
	case "is":
		return at == 0 && len(name) == len(w.text)
	case "ends":
		return at+len(w.text) == len(name)
	}
	return true
}
