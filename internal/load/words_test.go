package load

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestWords holds the words that editors show to those that are read, and to the page.
func TestWords(t *testing.T) {
	page, err := os.ReadFile("../../docs/rego.md")
	if err != nil {
		t.Fatal(err)
	}
	var members []string
	for _, rule := range rules {
		for _, key := range memberKeys(rule) {
			if !slices.Contains(members, key) {
				members = append(members, key)
			}
		}
	}
	for _, c := range []struct {
		table string
		words []Word
		read  []string
	}{{"metadata", MetadataWords(), metadataKeys}, {"rules", RuleWords(), rules}, {"members", MemberWords(), members}} {
		var names []string
		for _, w := range c.words {
			names = append(names, w.Name)
			if w.Says == "" || strings.ContainsAny(w.Says, "[]\x00") && strings.Contains(w.Says, "](") {
				t.Errorf("%s says %q", w.Name, w.Says)
			}
		}
		slices.Sort(names)
		if want := slices.Sorted(slices.Values(c.read)); !slices.Equal(names, want) {
			t.Errorf("the table of %s has %v, and %v are read", c.table, names, want)
		}
		_, text, _ := strings.Cut(wordsText, "\n## "+c.table+"\n\n")
		text, _, _ = strings.Cut(text, "\n\n")
		if !strings.Contains(string(page), strings.TrimSpace(text)+"\n") {
			t.Errorf("docs/rego.md does not have the table of %s as words.md has it", c.table)
		}
	}
}
