package policycheck

import (
	"fmt"
	"strings"
)

func didYouMean(word string) string {
	if word == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", word)
}

// nearest returns the known word that another one was probably meant to be, ""
// if there is none.
func nearest(word string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		a, b := strings.ToLower(word), strings.ToLower(k)
		d := distance(a, b)
		if len(a) >= 3 && len(b) >= 3 && (strings.Contains(a, b) || strings.Contains(b, a)) {
			d = min(d, 2)
		}
		if d < least && 3*d <= 2*max(len(a), len(b))-2 {
			best, least = k, d
		}
	}
	return best
}

// slip returns the known word that another one is a slip of the pen of, and
// surely no word of its own.
func slip(word string, known []string) string {
	if len(word) < 5 {
		return ""
	}
	plain := strings.NewReplacer("_", "", "-", "")
	for _, k := range known {
		if strings.EqualFold(plain.Replace(word), plain.Replace(k)) {
			return "" // as others write it
		}
		plural := strings.TrimSuffix(word, "s") == strings.TrimSuffix(k, "s")
		if !plural && distance(strings.ToLower(word), strings.ToLower(k)) == 1 {
			return k
		}
	}
	return ""
}

// distance counts the letters to add, drop, change or swap that make b of a.
func distance(a, b string) int {
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
