package strictjson

import (
	"strings"
	"unicode"
)

// Fold maps keys that a person or a lenient decoder could confuse to one
// string: letter case (Go's encoding/json folds it), invisible characters, full
// width forms, and the Cyrillic and Greek letters that look Latin.
func Fold(key string) string {
	if plain(key) {
		return key
	}
	return strings.Map(foldRune, key)
}

func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x80 || 'A' <= c && c <= 'Z' || c < 0x20 {
			return false
		}
	}
	return true
}

func foldRune(r rune) rune {
	if r >= 0xFF01 && r <= 0xFF5E { // full width ASCII
		r -= 0xFEE0
	}
	if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Cc, r) {
		return -1
	}
	switch r {
	case 'ſ':
		return 's'
	case 'K':
		return 'k'
	}
	r = unicode.ToLower(r)
	if latin, ok := confusable(r); ok {
		return latin
	}
	return r
}

// confusable lists small letters of other scripts with a Latin twin.
func confusable(r rune) (rune, bool) {
	const from = "аеорсхуіјѕԁһӏԛԝвкмнт" + "αονρικτυχε" + "ıɡ"
	const to = "aeopcxyijsdhlqwbkmht" + "aovpiktuxe" + "ig"
	i := 0
	for _, f := range from {
		if f == r {
			return rune(to[i]), true
		}
		i++
	}
	return 0, false
}
