package screen

import (
	"fmt"
	"strings"
)

// Counted is a number of things in words, such as "1 policy" or "2 policies". The
// noun is a regular one in the singular.
func Counted(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "cy"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	case strings.HasSuffix(noun, "ch"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Plural is the one of two words that goes with a number of things.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Hang indents all lines of a text but the first, which stands behind something
// else. Line feeds at its end are left out.
func Hang(text string) string { return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") }
