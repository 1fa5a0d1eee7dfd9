package seen

import (
	"slices"
	"strings"
	"testing"
)

// TestStems holds that a text without a stem has no column that tells something of a person.
func TestStems(t *testing.T) {
	for _, name := range strings.Fields(private) {
		if !slices.ContainsFunc(strings.Fields(stems), func(stem string) bool { return strings.Contains(name, stem) }) {
			t.Errorf("no stem stands in %s", name)
		}
	}
}
