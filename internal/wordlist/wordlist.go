// Package wordlist looks words up: in long lists that are written as one text, in
// tables by name, and in names that are made up of several words. It is no pattern
// language: package glob is. For a handful of words slices.Contains is enough.
package wordlist

import (
	"slices"
	"strings"
)

// Has reports whether list holds w. Each word of a list has a blank on either
// side: " rm rmdir ". It is as fast as a slice (BenchmarkHas). A slice of strings is
// built at each call by code; with slices for all lists gate-hook was 36 KB larger.
func Has(list, w string) bool {
	for {
		i := strings.Index(list, w)
		if i < 0 || w == "" {
			return false
		}
		if i > 0 && list[i-1] == ' ' && i+len(w) < len(list) && list[i+len(w)] == ' ' {
			return true
		}
		list = list[i+len(w):]
	}
}

// HasAny reports whether list holds one of words.
func HasAny(list string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return Has(list, w) })
}

// Lookup returns what stands behind " |" in the line of rows that has a word before
// it: of "rm unlink | delete", of rm, it is " delete".
func Lookup(rows, word string) (behind string, ok bool) {
	for line := range strings.Lines(rows) {
		words, behind, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " |")
		if Has(" "+words+" ", word) {
			return behind, true
		}
	}
	return "", false
}

// Within reports whether a text holds one of the words of list. Blanks stand between
// the words only, and the text is no list: a word may begin and end anywhere in it.
func Within(text, list string) bool {
	for w := range strings.FieldsSeq(list) {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// OfName returns the words that a name is made of, in lower case:
// mcp__fs__writeFile is mcp, fs, write, file.
func OfName(name string) []string {
	var words []string
	cur := ""
	flush := func() {
		if cur != "" {
			words = append(words, strings.ToLower(cur))
		}
		cur = ""
	}
	for i, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.' || r == '/' || r == ':' || r == ' ':
			flush()
			continue
		case 'A' <= r && r <= 'Z' && i > 0 && cur != "" && cur[len(cur)-1] >= 'a':
			flush()
		}
		cur += string(r)
	}
	flush()
	return words
}
