package program

import (
	"os"
	"slices"
	"strings"
	"testing"

	"gate/facts/catalogue"
	"gate/facts/wordlist"
)

// TestSpecials holds that there is each function that a row names.
func TestSpecials(t *testing.T) {
	data, err := os.ReadFile("../catalogue/catalogue.compact")
	if err != nil {
		t.Fatal(err)
	}
	c, found := catalogue.New(nil), 0
	for line := range strings.Lines(string(data)) {
		name, _, _ := strings.Cut(line, " {")
		name, _, _ = strings.Cut(name, ",")
		if row, ok := c.Lookup(name); ok && row.Special != "" {
			found++
			if wordlist.Find(specials[:], row.Special) == nil {
				t.Errorf("%s: no function %q", row.Name, row.Special)
			}
		}
	}
	if found < 50 {
		t.Errorf("%d rows with a function", found)
	}
}

// TestSpecialsOrder holds that [wordlist.Find] finds every function.
func TestSpecialsOrder(t *testing.T) {
	if !slices.IsSortedFunc(specials[:], func(a, b wordlist.Named[func(*use)]) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("specials are not in the order of names")
	}
}
