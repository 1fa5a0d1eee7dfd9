package learn

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"gate/hook"
)

// placesOf are the directories outside of the project that calls looked at, without
// those below another one.
func placesOf(list []Question) (places []string) {
	for _, q := range list {
		if refuse(q) == "" {
			places = append(places, lookedAt(q.Event.Facts)...)
		}
	}
	var widest []string
	for _, p := range union(places, nil) {
		if !slices.ContainsFunc(widest, func(w string) bool { return below(p, w) }) {
			widest = append(widest, p)
		}
	}
	return widest
}

// lookedAt are the directories outside of the project of which a call reads or lists
// something.
func lookedAt(f *hook.Facts) (dirs []string) {
	for _, p := range f.Paths {
		switch {
		case p.Path == nil || p.InProject == nil || *p.InProject || *p.Path == "/dev/null":
		case p.Access == "list":
			dirs = append(dirs, *p.Path)
		case p.Access == "read" || p.Access == "use":
			dirs = append(dirs, path.Dir(*p.Path))
		}
	}
	return dirs
}

func below(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// looked takes in the places that a call looked at.
func (g *Grant) looked(f *hook.Facts, places []string) {
	for _, dir := range lookedAt(f) {
		i := slices.IndexFunc(places, func(place string) bool { return below(dir, place) })
		if i >= 0 {
			g.Places = union(g.Places, places[i:i+1])
		}
	}
}

// name names the proposal by what it allows; it has no name if that is nothing.
func (p *Proposal) name() {
	var names, titles []string
	for _, how := range p.Grant.How {
		names = append(names, how+"_files")
		titles = append(titles, map[string]string{"create": "new files and directories in the project", "edit": "formatting of program text in the project"}[how])
	}
	if len(p.Grant.Removes) > 0 {
		names, titles = append(names, "remove_made_again"), append(titles, "removal of what tools make again")
	}
	if len(p.Grant.Places) > 0 {
		names, titles = append(names, nameOf(p.Grant.Places)), append(titles, "looks at "+strings.Join(p.Grant.Places, " and "))
	}
	p.Name, p.Title = strings.Join(names, "_and_"), strings.Join(titles, ", ")
	if p.Title != "" {
		p.Title = strings.ToUpper(p.Title[:1]) + p.Title[1:]
	}
}

// nameOf names some places: the last part of the first one is for people, and the digest
// tells them from all others.
func nameOf(places []string) string {
	sum := sha256.Sum256([]byte(strings.Join(places, "\n")))
	last := []rune(word(path.Base(places[0])))
	return "look_at_" + string(last[:min(len(last), mostOfName)]) + "_" + hex.EncodeToString(sum[:6])
}

// mostOfName is how many letters of a place stand in a name.
const mostOfName = 24

// word makes a part of a package's name of a name; others may become the same.
func word(place string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '_'
	}, place)
}
