package paths_test

import (
	"strings"
	"testing"

	"gate/internal/paths"
)

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"src/**", "src/a/b.go", true},
		{"src/**", "src", true}, // a directory is its own
		{"src/**", "srcs/a", false},
		{"**/x", "x", true},
		{"**/x", "a/b/x", true},
		{"**/x", "a/b/xy", false},
		{"a/**/b", "a/b", true},
		{"a/**/b", "a/c/d/b", true},
		{"a/**/b", "a/c/d", false},
		{"a/**/b/**/c", "a/b/x/b/c", true},
		{"a/**/**", "a", true},
		{"**", "", true},
		{"a/*", "a/b/c", false},
		{"a/*", "a", false},
		{"a/", "a", false},
		{"a", "a/", false},
		{"/a", "a", false},
		{"*.g?", "x.go", true},
		{"[a-c]/[!a-c]", "b/d", true},
		{"[]x]", "]", true},
		{`\*`, "*", true},
		{`\*`, "a", false},
		{"?", "é", true},
		{"a**b", "axb", true},
		{"a**b", "a/b", false}, // it is no segment of its own
	} {
		p, err := paths.New(c.pattern)
		if err != nil {
			t.Errorf("New(%q): %v", c.pattern, err)
		}
		if got := p.Matches(c.path); got != c.want {
			t.Errorf("%q matches %q: %t", c.pattern, c.path, got)
		}
	}
	for pattern, want := range map[string]string{
		"a/[b": `a glob has "[" without "]"`, `a\`: "a glob ends with a backslash", "[z-a]": "a glob has a set with a range that runs backwards",
	} {
		if _, err := paths.New(pattern); err == nil || err.Error() != want {
			t.Errorf("New(%q): %v, want %s", pattern, err, want)
		}
	}
}

func TestAlternatives(t *testing.T) {
	for pattern, want := range map[string]string{
		"*.go": "*.go", "{a,b}": "a b", "x{a,b}y{c,d}": "xayc xayd xbyc xbyd", "{.env,*.{go,sh}}": ".env *.go *.sh", "{a}": "a", "a{,b}": "a ab",
		"{": "false", "}{": "false", "{a": "false", "a}": "false", "{a,b}}": "false",
		strings.Repeat("{a,b}", 60): "false", strings.Repeat("{a}", 30000): "false", "{" + strings.Repeat(",", 30000) + "}": "false", strings.Repeat("{", 30000): "false",
	} {
		got, ok := paths.Alternatives(pattern)
		if text := strings.Join(got, " "); ok && text != want || !ok && (want != "false" || got != nil) {
			t.Errorf("Alternatives(%.20q) = %q, %t", pattern, text, ok)
		}
	}
}

// FuzzMatches holds that ** is any number of steps, by a slower reading of it.
func FuzzMatches(f *testing.F) {
	f.Add("a/**/b", "a/x/y/b")
	f.Add("**/[a-c]*/?", "x/abc/d")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		p, err := paths.New(pattern)
		if err != nil || strings.Count(pattern, "/") > 6 || strings.Count(path, "/") > 8 {
			return
		}
		want := slow(strings.Split(pattern, "/"), strings.Split(path, "/"))
		if got := p.Matches(path); got != want {
			t.Errorf("%q matches %q: %t", pattern, path, got)
		}
	})
}

func slow(pattern, path []string) bool {
	switch {
	case len(pattern) == 0:
		return len(path) == 0
	case pattern[0] != "**":
		return len(path) > 0 && paths.Segment(pattern[0]).Matches(path[0]) && slow(pattern[1:], path[1:])
	}
	for i := range len(path) + 1 {
		if slow(pattern[1:], path[i:]) {
			return true
		}
	}
	return false
}
