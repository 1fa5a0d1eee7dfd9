package secret_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/log.md anew")

// TestPage holds the table of docs/log.md to the rows.
func TestPage(t *testing.T) {
	const page, begin, end = "../../docs/log.md", "<!-- secrets -->\n", "<!-- end of secrets -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("the page has no place for the table")
	}
	want := before + begin + table(rows(t)) + end + after
	switch {
	case *update:
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	case want != string(text):
		t.Error("the table is not what the rows say: go test ./internal/secret -run TestPage -update")
	}
}

// table lists whose tokens there are, by kind and grade.
func table(list []row) string {
	var b strings.Builder
	b.WriteString("| `secret` | grade | whose |\n|---|---|---|\n")
	for len(list) > 0 {
		first := list[0]
		var whose []string
		list = slices.DeleteFunc(list, func(r row) bool {
			same := r.what == first.what && r.grade == first.grade
			if same && !slices.Contains(whose, r.whose) {
				whose = append(whose, r.whose)
			}
			return same
		})
		fmt.Fprintf(&b, "| %s | %s | %s |\n", first.what, first.grade, strings.Join(whose, " · "))
	}
	return b.String()
}
