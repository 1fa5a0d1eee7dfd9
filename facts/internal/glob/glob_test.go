package glob_test

import (
	"strings"
	"testing"

	"gate/facts/internal/glob"
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
		if strings.ContainsAny(s, "\x01\x7f") {
			return // bash's own signs: what such a pattern matches stays open
		}
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

// TestHostile has patterns that would take hours if one cost more than its length
// allows: the limit on steps ends each of them.
func TestHostile(t *testing.T) {
	const n = 100_000
	long := strings.Repeat("a", n)
	for _, pattern := range []string{
		strings.Repeat("[", n), strings.Repeat(`[a\]`, n/4), strings.Repeat("[[:alpha:", n/9), strings.Repeat("*a", n/2) + "b",
		strings.Repeat("@(", n/2), strings.Repeat("*(", 5000) + "a" + strings.Repeat(")", 5000), strings.Repeat("!(a|", 30) + "b" + strings.Repeat(")", 30),
		strings.Repeat("+(a|", 30) + "b" + strings.Repeat(")", 30), strings.Repeat("*(a)", n/4), "@(" + strings.Repeat("a|", n/2) + ")", "*!(" + long + ")",
	} {
		p := glob.Compile(pattern, glob.Syntax{Extended: true})
		answer := p.Match(long)
		if rest, known := p.Trim(long, false, true); known && (rest == "") != (answer == glob.Yes) && answer != glob.Unknown {
			t.Errorf("%.20s…: matched: %v, but %d bytes are left", pattern, answer, len(rest))
		}
		p.Replace(long, "b", 0, true)
		p.Recase(long[:100], true, false)
	}
}
