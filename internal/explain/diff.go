package explain

import "strings"

// A Piece is a run of words that two texts share, or that only one of them has.
type Piece struct {
	Text string
	Side rune // ' ' both, '-' only before, '+' only after
}

// maxDiff bounds the words of either text that are compared one by one.
const maxDiff = 1000

// Diff compares two texts word by word. What is between words goes with the
// word before it.
func Diff(before, after string) []Piece {
	a, b := fields(before), fields(after)
	if len(a) > maxDiff || len(b) > maxDiff {
		return joined([]Piece{{before, '-'}, {after, '+'}})
	}
	// longest[i][j]: how many words a[i:] and b[j:] share.
	longest := make([][]int, len(a)+1)
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if same(a[i], b[j]) {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	var pieces []Piece
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && same(a[i], b[j]):
			pieces = append(pieces, Piece{a[i], ' '})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && longest[i+1][j] >= longest[i][j+1]:
			pieces = append(pieces, Piece{a[i], '-'})
			i++
		default:
			pieces = append(pieces, Piece{b[j], '+'})
			j++
		}
	}
	return joined(pieces)
}

func same(a, b string) bool { return strings.TrimRight(a, " \t\n") == strings.TrimRight(b, " \t\n") }

// fields cuts a text into words, each with the blanks that follow it.
func fields(s string) []string {
	var list []string
	for s != "" {
		word := strings.IndexAny(s, " \t\n")
		if word < 0 {
			return append(list, s)
		}
		rest := strings.TrimLeft(s[word:], " \t\n")
		list = append(list, s[:len(s)-len(rest)])
		s = rest
	}
	return list
}

// joined puts neighbours of the same side together.
func joined(pieces []Piece) []Piece {
	var list []Piece
	for _, p := range pieces {
		switch n := len(list); {
		case p.Text == "":
		case n > 0 && list[n-1].Side == p.Side:
			list[n-1].Text += p.Text
		default:
			list = append(list, p)
		}
	}
	return list
}
