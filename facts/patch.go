package facts

import (
	"gate/facts/flow"
	"strings"
)

// patch judges the files that an apply_patch document touches, from the
// directory of a shell. Clients forgive blanks before a marker, except between the
// lines of a changed file, where a blank marks a line that stays.
func (w *draft) patch(at where, id int, text string) {
	found, changing, file := w.unifiedDiff(at, id, text), false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if !changing {
			line = strings.TrimLeft(line, " \t")
		}
		for _, verb := range [...]struct {
			prefix string
			access access
		}{
			{"*** Add File:", access{kind: "write", how: "overwrite"}},
			{"*** Update File:", access{kind: "write", how: "edit"}},
			{"*** Delete File:", access{kind: "delete", how: "remove", recursive: true}},
			{"*** Move to:", access{kind: "write", how: "overwrite"}},
		} {
			name, ok := strings.CutPrefix(line, verb.prefix)
			if !ok {
				continue
			}
			name = strings.TrimSpace(name)
			if verb.prefix == "*** Move to:" && file != "" {
				w.usePath(at, id, flow.Literal(file), access{kind: "delete", how: "move"})
			} else {
				changing, file = verb.prefix == "*** Update File:", name
			}
			found = true
			w.usePath(at, id, flow.Literal(name), verb.access)
		}
	}
	if !found {
		w.unknown("tool", "a patch in which gate finds no file", id, nil)
	}
}

// unifiedDiff judges the files of a patch in the form of diff -u, and reports
// whether there are any.
func (w *draft) unifiedDiff(at where, id int, text string) bool {
	found, old := false, ""
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "--- "); ok {
			old = diffName(name, "a/")
			continue
		}
		name, ok := strings.CutPrefix(line, "+++ ")
		if !ok || old == "" {
			continue
		}
		found = true
		if name = diffName(name, "b/"); name == "/dev/null" {
			w.usePath(at, id, flow.Literal(old), access{kind: "delete", how: "remove"})
		} else {
			w.usePath(at, id, flow.Literal(name), access{kind: "write", how: "edit"})
		}
		old = ""
	}
	return found
}

// diffName is the file that a line of a patch names, without the letter that git
// sets before it.
func diffName(line, letter string) string {
	name, _, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
	return strings.TrimPrefix(name, letter)
}
