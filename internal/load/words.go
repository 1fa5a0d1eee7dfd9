package load

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
)

//go:embed words.md
var wordsText string

// A Word is a key or rule of policies, as docs/rego.md explains it.
type Word struct {
	Name string
	Says string   // in Markdown, one line
	Keys []string // of a rule: those of its members
}

// MetadataWords are the keys of custom.gate.
func MetadataWords() []Word { return words("metadata", ", without it: ") }

// RuleWords are the rules that mean something.
func RuleWords() []Word {
	list := words("rules", "")
	for i := range list {
		list[i].Keys = memberKeys(list[i].Name)
	}
	return list
}

// MemberWords are the keys of members.
func MemberWords() []Word { return words("members", "") }

// ParamTypes are the types that a parameter can have.
func ParamTypes() []string { return slices.Clone(paramTypes) }

// words reads a table. between joins its last two columns; "" leaves all but the second out.
func words(table, between string) []Word {
	_, text, _ := strings.Cut(wordsText, "\n## "+table+"\n\n")
	text, _, _ = strings.Cut(text, "\n\n")
	links := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	var list []Word
	for i, row := range strings.Split(text, "\n") {
		row = strings.ReplaceAll(strings.Trim(row, "| "), `\|`, "\x00")
		cells := strings.Split(row, "|")
		if i < 2 || len(cells) < 2 {
			continue
		}
		for c := range cells {
			cells[c] = strings.ReplaceAll(links.ReplaceAllString(strings.TrimSpace(cells[c]), "$1"), "\x00", "|")
		}
		w := Word{Name: strings.Trim(cells[0], "`"), Says: cells[1]}
		if between != "" && len(cells) > 2 && cells[2] != "" {
			w.Says += between + cells[2]
		}
		list = append(list, w)
	}
	return list
}
