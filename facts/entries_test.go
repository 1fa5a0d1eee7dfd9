package facts_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"gate/hook"
)

// An entry is one line of testdata/bash.txt: text after "$ " and "> ", then
// after "? " what facts do not know.
type entry struct{ comment, line, unknown string }

func readEntries(t testing.TB, file string) []entry {
	t.Helper()
	data, err := os.ReadFile(file)
	must(t, err)
	var out []entry
	comment := ""
	for l := range strings.Lines(string(data)) {
		text := strings.TrimRight(l, "\n")
		switch {
		case strings.HasPrefix(text, "$ "):
			out = append(out, entry{comment: comment, line: text[2:]})
			comment = ""
		case strings.HasPrefix(text, "> "), text == ">":
			out[len(out)-1].line += "\n" + strings.TrimPrefix(strings.TrimPrefix(text, ">"), " ")
		case strings.HasPrefix(text, "? "):
			out[len(out)-1].unknown = text[2:]
		default:
			comment += l
		}
	}
	return out
}

// unknowns lists the kinds of what is not known and may hide commands.
func unknowns(f *hook.Facts) string {
	var kinds []string
	for _, u := range f.Unknown {
		if structural(u) && !slices.Contains(kinds, u.Kind) {
			kinds = append(kinds, u.Kind)
		}
	}
	slices.Sort(kinds)
	return strings.Join(kinds, ", ")
}

// structural reports an unknown that may hide whole commands. An unknown word
// hides nothing but itself.
func structural(u hook.Unknown) bool {
	switch u.Kind {
	case "word", "path", "directory":
		return false
	}
	return true
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
