package backtracking_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gate/internal/backtracking"
	"gate/matcher"
)

// TestOnly holds which patterns take a backtracker: a program without one must
// tell them from mistakes.
func TestOnly(t *testing.T) {
	for _, row := range []struct {
		pattern string
		only    bool
	}{
		{"^mcp__.*", false},
		{`[A-Z]\w+`, false},
		{"^(?!Bash$).*", true},
		{`^(.)\1`, true},
		{"Bash|(?=x)y", true},
		{`\s`, true},
		{"é.*", true},
		{"glob:[", false},
	} {
		_, err := matcher.Compile(row.pattern, nil)
		if got := errors.Is(err, matcher.ErrBacktracks); got != row.only {
			t.Errorf("%q: %v", row.pattern, err)
		}
		if _, err := matcher.Compile(row.pattern, backtracking.Compile); row.only && err != nil {
			t.Errorf("%q: %v", row.pattern, err)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{"(?=a)b", `\1(a)`, `(?<n>a)\k<n>`, "^(?!Bash$).*", "(a+)+$", "é{2}", "[^]", "(?i)a", "[\\"} {
		f.Add(s, "Bash")
	}
	f.Fuzz(func(t *testing.T, pattern, value string) {
		m, err := matcher.Compile(pattern, backtracking.Compile)
		if err == nil && m.Match(value) == matcher.No && m.All() {
			t.Errorf("%q matches everything but %q", pattern, value)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	match, err := backtracking.Compile("(?=x)y")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		match("mcp__files__write_file")
	}
}

func ExampleCompile() {
	m, err := matcher.Compile("^(?!Read|Grep)", backtracking.Compile)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Match("Bash"), m.Match("Grep"), m.Match(strings.Repeat("a", matcher.MaxValue+1)))
	// Output: yes no unsure
}
