package glob_test

import (
	"strings"
	"testing"

	"gate/facts/glob"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"*.go", "main.go", true},
		{"*.go", "main.goo", false},
		{"id_?sa", "id_rsa", true},
		{"[a-c]x", "bx", true},
		{"[!a-c]x", "bx", false},
		{"[^a]x", "bx", true},
		{`\*`, "*", true},
		{`\*`, "a", false},
		{"[", "[", true},
		{"", "", true},
		{"*", "", true},
		{"a*b*c", "aXbYbZc", true},
	} {
		if got := glob.Compile(c.pattern, glob.Syntax{}).Match(c.s) == glob.Yes; got != c.want {
			t.Errorf("Match(%q, %q) = %t", c.pattern, c.s, got)
		}
	}
	if glob.MayPath("/home/*", "/home/dev/x") || !glob.MayPath("/h*/d?v", "/home/dev") {
		t.Error("a star crosses a slash, or a path does not match its pattern")
	}
	for component, want := range map[string]bool{"*": true, ".*": true, "[a-z]*": true, "*.go": false, "..": false, "": false} {
		if got := glob.Broad(component); got != want {
			t.Errorf("Broad(%q) = %t", component, got)
		}
	}
}

// FuzzEscape holds that an escaped text is no pattern and matches itself alone.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "a", "*", "[a]", `\`, `\*`, "a?b"} {
		f.Add(s, "a")
	}
	f.Fuzz(func(t *testing.T, s, other string) {
		escaped := glob.Escape(s)
		if glob.Wild(escaped) || glob.Unescape(escaped) != s || glob.Compile(escaped, glob.Syntax{}).Match(s) != glob.Yes || other != s && glob.Compile(escaped, glob.Syntax{}).Match(other) == glob.Yes {
			t.Errorf("Escape(%q) = %q", s, escaped)
		}
		glob.May(strings.Repeat(other, 3), s)
		if glob.Broad(other) && !glob.Wild(other) && !strings.Contains(other, `\\`) {
			t.Errorf("%q is broad and no pattern", other)
		}
	})
}
