package code

import (
	"strings"

	"gate/internal/wordlist"
)

// Deletes reports a text in any language that has a word for deleting files.
func Deletes(text string) bool { return wordsOf(text)&deleteWord != 0 || marksOf(text)&deleteMark != 0 }

// OfHome are the names that a text gives to the home directory, or to a directory in it: its
// functions that return it, and its constants. Another text may take them over.
func OfHome(text string) (names []string) {
	if len(text) > maxLineage || marksOf(text)&homeMark == 0 && !namesHome(text) {
		return nil
	}
	texts := statementsOf(withoutAlias(text))
	list := make([]binding, len(texts))
	for i, s := range texts {
		list[i] = bindingOf(s, false)
	}
	home := map[string]bool{}
	for range 2 {
		for i := range list {
			if s := &list[i]; s.ofHome || holds(s.kept, home) {
				take(home, s.names)
			}
		}
	}
	function := ""
	for i := range list {
		s := &list[i]
		found := definesFunction().FindStringSubmatch(s.text)
		if found != nil {
			function = found[1] + found[2] + found[3]
		}
		if !s.ofHome && !holds(s.kept, home) {
			continue
		}
		first := firstWord(s.text)
		switch {
		case function != "" && (found != nil || first == "return" || s.names == "" || strings.HasPrefix(first, "return")):
			if !wordlist.Has(" main Main run new init test ", function) {
				names = append(names, function)
			}
		case function == "" && len(firstName(s.names)) > 2:
			names = append(names, firstName(s.names))
		}
	}
	return names
}

// firstName is the first name that a pattern binds, without the words around it.
func firstName(bound string) (name string) {
	eachWord(bound, func(w string) {
		if name == "" && !wordlist.Has(bindingWords+" export public static private readonly module exports pub ", w) {
			name = w
		}
	})
	return name
}
