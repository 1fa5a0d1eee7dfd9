package policycheck

import (
	"fmt"
	"strings"

	"gate/internal/spelling"
)

func didYouMean(word string) string {
	if word == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", word)
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
		if !plural && spelling.Distance(strings.ToLower(word), strings.ToLower(k)) == 1 {
			return k
		}
	}
	return ""
}
