package program

import (
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/world"
)

// Limits of a list of names that a command deletes.
const (
	maxList   = 64 << 10 // bytes
	maxListed = 64       // names, those first that lead out of the project
)

// fromList are the words that a word stands for which is a line of a file, or all of it, such
// as $p in while read p; do rm -rf "$p"; done < list. The names in the list decide, as if
// somebody had typed them.
func (u *use) fromList(f flow.Word) (words []flow.Word) {
	at := slices.IndexFunc(f.Parts, func(p flow.Part) bool { return p.Hole != nil && p.Hole.File != "" })
	if at < 0 || u.at().Remote {
		return nil
	}
	text, err := u.World.Read(f.Parts[at].Hole.File, maxList)
	if err != nil {
		return nil
	}
	for _, name := range u.namesOf(text, f.Parts[at].Hole.Many) {
		one := f
		one.Parts = slices.Clone(f.Parts)
		one.Parts[at] = flow.Part{Text: name, Quoted: true}
		words = append(words, one)
	}
	return words
}

// namesOf are the names in a list: lines, texts that zeros end, and the words of a line where
// blanks part names. Those come first that lead out of the project.
func (u *use) namesOf(text string, words bool) (names []string) {
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' || r == 0 }) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		names = append(names, line)
		if words && strings.ContainsAny(line, " \t") {
			names = append(names, strings.Fields(line)...)
		}
	}
	var first, rest []string
	for _, name := range names {
		if strings.HasPrefix(name, "/") && !world.Below(name, u.World.Project) || strings.HasPrefix(name, "..") || strings.Contains(name, "/..") {
			first = append(first, name)
		} else {
			rest = append(rest, name)
		}
	}
	names = append(first, rest...)
	return names[:min(len(names), maxListed)]
}
