package explain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gate/internal/explain"
)

func TestDiff(t *testing.T) {
	for _, row := range []struct{ before, after, want string }{
		{"", "", ""},
		{"a b", "a b", " a b"},
		{"terraform apply -auto-approve", "terraform plan", " terraform |-apply -auto-approve|+plan"},
		{"rm -rf x", "rm -rf x -i", " rm -rf x|+-i"},
		{"a", "", "-a"},
		{"", "b", "+b"},
		{strings.Repeat("x ", 2000), "y", "-" + strings.Repeat("x ", 2000) + "|+y"},
	} {
		var got []string
		for _, p := range explain.Diff(row.before, row.after) {
			got = append(got, fmt.Sprintf("%c%s", p.Side, p.Text))
		}
		if text := strings.Join(got, "|"); text != row.want {
			t.Errorf("%q to %q: %q, want %q", row.before, row.after, text, row.want)
		}
	}
}

// FuzzDiff puts both texts together again, but for blanks.
func FuzzDiff(f *testing.F) {
	f.Add("terraform apply -auto-approve", "terraform plan")
	f.Add("a  b\tc\n", "b a")
	f.Fuzz(func(t *testing.T, before, after string) {
		var was, is []string
		for _, p := range explain.Diff(before, after) {
			if p.Side != '+' {
				was = append(was, strings.Fields(p.Text)...)
			}
			if p.Side != '-' {
				is = append(is, strings.Fields(p.Text)...)
			}
		}
		if !slices.Equal(was, strings.Fields(before)) || !slices.Equal(is, strings.Fields(after)) {
			t.Errorf("%q to %q: %q, %q", before, after, was, is)
		}
	})
}
