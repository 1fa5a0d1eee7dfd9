package screen

import (
	"path/filepath"
	"strings"
)

// A Page is where people read a text. The zero Page is plain and shortens no path.
type Page struct {
	Style
	Home string // the directory that "~" stands for; "": none
}

// Tilde shortens a path below the home directory.
func (p Page) Tilde(path string) string {
	if rest, ok := strings.CutPrefix(path, p.Home+string(filepath.Separator)); ok && p.Home != "" {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

// Tildes shortens the paths among the words of a sentence.
func (p Page) Tildes(text string) string {
	words := strings.Split(text, " ")
	for i, w := range words {
		words[i] = p.Tilde(w)
	}
	return strings.Join(words, " ")
}
