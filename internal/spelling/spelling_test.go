package spelling_test

import (
	"strings"
	"testing"

	"gate/internal/spelling"
)

func TestNearest(t *testing.T) {
	known := []string{"check", "deny", "PreToolUse", "policies", "commands", "test", "try", "x"}
	for word, want := range map[string]string{
		"chek": "check", "dney": "deny", "denny": "deny", "pretooluse": "PreToolUse", "PreToolsUse": "PreToolUse",
		"polices": "policies", "command": "commands", "tst": "test", "nothing": "", "y": "", "": "", "foo": "",
	} {
		if got := spelling.Nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"abc", "acb", 1}, {"größe", "grosse", 3}, {"kitten", "sitting", 3}} {
		if got := spelling.Distance(c.a, c.b); got != c.want || spelling.Distance(c.b, c.a) != got {
			t.Errorf("%q and %q: %d, want %d either way", c.a, c.b, got, c.want)
		}
	}
}

// FuzzNearest suggests what is known, and the word itself where it is.
func FuzzNearest(f *testing.F) {
	f.Add("chek", "check deny")
	f.Fuzz(func(t *testing.T, word, list string) {
		if len(word)+len(list) > 1<<10 {
			return
		}
		known := strings.Fields(list)
		got := spelling.Nearest(word, known)
		if got != "" && !strings.Contains(" "+strings.Join(known, " ")+" ", " "+got+" ") {
			t.Errorf("%q: %q is none of %q", word, got, known)
		}
	})
}
