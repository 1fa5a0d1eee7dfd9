package draft

import (
	"path"
	"strings"

	"gate/facts/internal/flow"
)

// Patch judges the files that an apply_patch document touches, from the
// directory of a shell. Clients forgive blanks before a marker, except between the
// lines of a changed file, where a blank marks a line that stays.
func (d *Draft) Patch(at Where, id int, text string) {
	found, changing, file := d.Diff(at, id, Diff{Text: text, Strip: -1}), false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if !changing {
			line = strings.TrimLeft(line, " \t")
		}
		if added, ok := strings.CutPrefix(line, "+"); ok && file != "" {
			for _, t := range d.Absolute(at, flow.Literal(file)) {
				d.Piece(t.Path, added)
			}
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

// A Diff is a patch as diff, git and patch write it, and how it is applied.
type Diff struct {
	Text  string
	Strip int    // how many directories go from the names; below 0 for the letter only that git sets before them
	Below string // the directory that the names are seen from, "" for the current one
}

// Diff judges the files of a patch in any of the forms of diff and git, and reports
// whether there are any. Lines of a hunk that look like a header count as one.
func (d *Draft) Diff(at Where, id int, patch Diff) bool {
	found, old, git := false, "", ""
	use := func(name string, a Access) {
		if name = path.Join(patch.Below, name); name != "" && name != "." {
			found = true
			d.UsePath(at, id, flow.Literal(name), a)
		}
	}
	edit, gone := Access{Kind: "write", How: "edit"}, Access{Kind: "delete", How: "remove"}
	for line := range strings.Lines(patch.Text) {
		line = strings.TrimRight(line, "\r\n")
		verb, rest, _ := strings.Cut(line, " ")
		switch verb {
		case "---", "+++", "***":
			name := patch.name(rest)
			switch {
			case strings.HasSuffix(rest, " ****") || strings.HasSuffix(rest, " ----") || strings.Trim(rest, "*") == "": // a hunk's range
			case verb == "***" && !strings.Contains(rest, ":"), verb == "---" && old == "":
				old = name
			case old == "", verb == "***":
			case name == "/dev/null":
				use(old, gone)
				old = ""
			case verb == "+++" || verb == "---":
				use(name, edit)
				old = ""
			}
		case "Index:":
			use(patch.name(rest), edit)
		case "diff":
			git = ""
			if names, ok := strings.CutPrefix(rest, "--git "); ok {
				if _, second, ok := strings.Cut(names, " b/"); ok {
					git = patch.name("b/" + second)
				}
			}
		case "new", "deleted", "rename", "copy":
			what, name, _ := strings.Cut(rest, " ")
			switch {
			case what == "file" && verb == "new" && git != "":
				use(git, edit)
			case what == "file" && verb == "deleted" && git != "":
				use(git, gone)
			case what == "to" && git != "":
				use(name, edit)
			case what == "from" && git != "" && verb == "rename":
				use(name, Access{Kind: "delete", How: "move"})
			}
		}
	}
	return found
}

// name is the file that a line of a patch names.
func (p Diff) name(line string) string {
	name, _, _ := strings.Cut(line, "\t")
	name = strings.Trim(name, `"`)
	if name == "/dev/null" {
		return name
	}
	if p.Strip < 0 {
		for _, letter := range [...]string{"a/", "b/"} {
			if after, ok := strings.CutPrefix(name, letter); ok {
				return after
			}
		}
		return name
	}
	for range p.Strip {
		_, after, ok := strings.Cut(name, "/")
		if !ok {
			break
		}
		name = strings.TrimLeft(after, "/")
	}
	return name
}
