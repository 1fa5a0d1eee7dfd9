package draft

import (
	"strings"

	"gate/facts/internal/flow"
)

// Patch judges the files that an apply_patch document touches, from the
// directory of a shell. Clients forgive blanks before a marker, except between the
// lines of a changed file, where a blank marks a line that stays.
func (d *Draft) Patch(at Where, id int, text string) {
	found, changing, file := d.unifiedDiff(at, id, text), false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if !changing {
			line = strings.TrimLeft(line, " \t")
		}
		for _, verb := range [...]struct {
			prefix string
			access Access
		}{
			{"*** Add File:", Access{Kind: "write", How: "overwrite"}},
			{"*** Update File:", Access{Kind: "write", How: "edit"}},
			{"*** Delete File:", Access{Kind: "delete", How: "remove", Recursive: true}},
			{"*** Move to:", Access{Kind: "write", How: "overwrite"}},
		} {
			name, ok := strings.CutPrefix(line, verb.prefix)
			if !ok {
				continue
			}
			name = strings.TrimSpace(name)
			if verb.prefix == "*** Move to:" && file != "" {
				d.UsePath(at, id, flow.Literal(file), Access{Kind: "delete", How: "move"})
			} else {
				changing, file = verb.prefix == "*** Update File:", name
			}
			found = true
			d.UsePath(at, id, flow.Literal(name), verb.access)
		}
	}
	if !found {
		d.Unknown("tool", "a patch in which gate finds no file", id, nil)
	}
}

// unifiedDiff judges the files of a patch in the form of diff -u, and reports
// whether there are any.
func (d *Draft) unifiedDiff(at Where, id int, text string) bool {
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
			d.UsePath(at, id, flow.Literal(old), Access{Kind: "delete", How: "remove"})
		} else {
			d.UsePath(at, id, flow.Literal(name), Access{Kind: "write", How: "edit"})
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
