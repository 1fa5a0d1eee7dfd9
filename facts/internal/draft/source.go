package draft

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/glob"
	"gate/internal/origin"
)

// A Source is a file whose text has an origin, among those that a word stands for.
type Source struct {
	Path  string // absolute; with a slash at its end a directory of which nobody knows the files
	Below string // its place below what the word names, "" for that itself
	Named bool   // its name alone tells that it holds a secret
	Taint flow.Taint
}

// maxSources bounds the files of one word.
const maxSources = 64

// Sources are the files with an origin among those that a word stands for: itself, what
// lies below a directory, and what a pattern matches. This line or calls before it put
// them there.
func (d *Draft) Sources(at Where, f flow.Word) (list []*Source) {
	if at.Remote {
		return nil
	}
	for _, t := range d.Absolute(at, f) {
		list = append(list, d.SourcesOf(t)...)
	}
	return list[:min(len(list), maxSources)]
}

// SourcesOf are those of one target.
func (d *Draft) SourcesOf(t Target) []*Source {
	switch {
	case t.Path == "":
		return nil
	case t.Contents:
		return d.below(t.Path)
	case t.Glob:
		return d.matching(t.Path)
	}
	if held := d.Holds(t.Path); held.Secret != "" || held.Remote {
		return []*Source{{Path: t.Path, Named: d.named(t.Path), Taint: held}}
	}
	list := d.below(t.Path)
	if t.Resolved != "" && t.Resolved != t.Path {
		list = append(list, d.below(t.Resolved)...)
	}
	return list
}

// Called are the files of a name, in whatever directory, into which this line or calls before it
// put something.
func (d *Draft) Called(name string) (list []*Source) {
	for _, s := range d.below("") {
		if path.Base(s.Path) == name {
			list = append(list, s)
		}
	}
	return list
}

// matching are the files that a pattern matches, and those below the directories that it does.
func (d *Draft) matching(pattern string) (list []*Source) {
	depth := strings.Count(pattern, "/")
	base := path.Dir(pattern[:strings.IndexAny(pattern, `*?[\`)] + "x")
	for _, s := range d.below(base) {
		steps := strings.SplitN(s.Path, "/", depth+2)
		if len(steps) > depth && glob.MayPath(pattern, strings.Join(steps[:depth+1], "/")) {
			s.Below = strings.Join(steps[depth:], "/")
			list = append(list, s)
		}
	}
	return list
}

// below are the files below a directory, in order, and the parts of a file.
func (d *Draft) below(dir string) (list []*Source) {
	dir = strings.TrimSuffix(dir, "/")
	found := map[string]flow.Taint{}
	add := func(file string, t flow.Taint) {
		if len(file) > len(dir) && file[len(dir)] == '/' && file[:len(dir)] == dir { // few of many
			found[file] = t
		}
	}
	for file, st := range d.Files {
		add(file, st.Taint)
	}
	for file, t := range d.Below {
		add(strings.TrimSuffix(file, "/")+"/", t)
	}
	for file, t := range d.Parts {
		add(file, t)
	}
	for _, m := range d.leftBelow(dir) {
		if _, now := found[m.Path]; !now {
			found[m.Path] = flow.Taint{Secret: m.Secret, Remote: m.Host != "", Host: strings.TrimPrefix(m.Host, unknownHost)}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(found)) {
		t := found[file]
		if below, ok := strings.CutPrefix(file, dir+"/"); ok && (t.Secret != "" || t.Remote) && !unkept(file) {
			list = append(list, &Source{Path: file, Below: below, Taint: t.In(file)})
		}
	}
	return list
}

// maxLooks is how many directories are looked for in the ledger for one event. Each look
// goes through all of it.
const maxLooks = 256

// leftBelow is what calls before this one left below a directory.
func (d *Draft) leftBelow(dir string) []origin.Move {
	if d.World.Ledger == nil || d.Event == nil {
		return nil
	}
	left, known := d.lookedBelow[dir]
	switch {
	case known:
		return left
	case len(d.lookedBelow) == maxLooks:
		d.Limit("more directories than gate looks through for what calls left in them")
		return nil
	case d.lookedBelow == nil:
		d.lookedBelow = map[string][]origin.Move{}
	}
	left, err := d.opened().Below(cmp.Or(dir, "/"))
	if err != nil {
		d.Unknown("origin", err.Error(), 0, nil)
	}
	d.lookedBelow[dir] = left
	return left
}

// Part notes that a file or directory has a part that holds what a taint says; the zero
// Taint ends it. [origin.Part] makes its path.
func (d *Draft) Part(whole, part string, t flow.Taint) {
	if d.Parts == nil {
		d.Parts = map[string]flow.Taint{}
	}
	d.Parts[origin.Part(whole, part)] = t
}

// PartsOf are the parts of a file or directory that hold something, whose Below is their
// name there, and whose taint names the file that they were made of.
func (d *Draft) PartsOf(whole string) (list []*Source) {
	for _, s := range d.below(whole) {
		in, part, ok := origin.CutPart(s.Path)
		if !ok || in != whole {
			continue
		}
		from := d.before(s.Path).From
		if t, now := d.Parts[s.Path]; now {
			from = t.From
		}
		s.Below, s.Taint.From = part, from
		list = append(list, s)
	}
	return list
}
