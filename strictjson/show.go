package strictjson

import "strings"

// OneLine makes one visible line of a text.
func OneLine(s string) string { return Visible(strings.Join(strings.Fields(s), " ")) }

// Quoted shows a word that somebody else chose: visible, and not too long.
func Quoted(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return `"` + Visible(s) + `"`
}
