package main

import (
	"strings"

	"gate/strictjson"
)

// A usageError is a mistake on the command line.
type usageError string

func (e usageError) Error() string { return string(e) }

// quoted shows a word that somebody else chose: visible, and not too long.
func quoted(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return `"` + strictjson.Visible(s) + `"`
}

// oneLine makes one visible line of a text.
func oneLine(s string) string {
	return strictjson.Visible(strings.Join(strings.Fields(s), " "))
}

// visible shows a text of several lines.
func visible(s string) string { return strictjson.Visible(s) }
