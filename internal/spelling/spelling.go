// Package spelling finds the known word that an unknown one was probably meant to be.
// It serves suggestions in messages and decides nothing: an unknown word stays unknown.
// Start with [Nearest].
package spelling

import "strings"

// Nearest returns the known word that another one was probably meant to be, the
// first of several that are as near, "" if none is near. Case does not matter.
func Nearest(word string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		a, b := strings.ToLower(word), strings.ToLower(k)
		d := Distance(a, b)
		if len(a) >= 3 && len(b) >= 3 && (strings.Contains(a, b) || strings.Contains(b, a)) {
			d = min(d, 2)
		}
		if d < least && 3*d <= 2*max(len(a), len(b))-2 {
			best, least = k, d
		}
	}
	return best
}

// Distance counts the letters to add, drop, change or swap that make b of a.
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			change := last[j-1]
			if x[i-1] != y[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
