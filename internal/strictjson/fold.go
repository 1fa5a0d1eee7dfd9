package strictjson

import (
	"strings"
	"unicode"
)

// Fold maps keys that a person or a lenient decoder could confuse to one
// string: letter case (Go's encoding/json folds it), invisible characters, full
// width and mathematical forms, and the Cyrillic, Greek and Armenian letters
// that look Latin. It is no complete list of look-alikes: where keys can be
// ASCII only, ask for that instead.
func Fold(key string) string {
	if plain(key) {
		return key
	}
	return strings.Map(foldRune, key)
}

// plain reports whether key folds to itself at a glance.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7F || 'A' <= c && c <= 'Z' || c < 0x20 {
			return false
		}
	}
	return true
}

func foldRune(r rune) rune {
	switch {
	case r >= 0xFF01 && r <= 0xFF5E: // full width ASCII
		r -= 0xFEE0
	case r >= 0x1D400 && r <= 0x1D6A3: // mathematical letters, 13 alphabets
		r = 'a' + (r-0x1D400)%26
	case r >= 0x1D7CE && r <= 0x1D7FF: // mathematical digits
		r = '0' + (r-0x1D7CE)%10
	case unprintable(r), unicode.In(r, unicode.Mn, unicode.Me, unicode.Cc):
		return -1
	}
	if latin, ok := confusable(r); ok {
		return latin
	}
	r = unicode.ToLower(r)
	if latin, ok := confusable(r); ok {
		return latin
	}
	return r
}

// confusable lists letters with a Latin twin: capitals whose small form has
// none, the two signs that Go's encoding/json folds, and small letters of
// other scripts.
func confusable(r rune) (rune, bool) {
	const from = "ΒΖΗΜΝΥ" + "\u017f\u212a" + "аеорсхуіјѕԁһӏԛԝвкмнт" + "αονρικτυχε" + "օսհո" + "ıɡ"
	const to = "bzhmny" + "sk" + "aeopcxyijsdhlqwbkmht" + "aovpiktuxe" + "ouhn" + "ig"
	if r < 0x80 {
		return 0, false
	}
	i := 0
	for _, f := range from {
		if f == r {
			return rune(to[i]), true
		}
		i++
	}
	return 0, false
}
