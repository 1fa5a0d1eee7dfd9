package matcher_test

import (
	"slices"
	"testing"

	"gate/matcher"
)

// TestLiterals holds what is known of common matchers without compiling them.
func TestLiterals(t *testing.T) {
	for pattern, want := range map[string][]string{
		"":                       nil,
		"*":                      nil,
		"Bash":                   {"Bash"},
		"Write|Bash":             {"Bash", "Write"},
		"mcp__*":                 {"mcp__"},
		"contains:task":          {"task"},
		"glob:*_status":          nil,
		"mcp__.*":                {"mcp__"},
		"^mcp__[^_]+__delete_.*": {"__delete_"},
		"mcp__jira__.*|Bash":     {"Bash", "mcp__jira__"},
		"^(mcp__a)+$":            {"mcp__a"},
		"a(b|c)d?":               {"a"},
		".*":                     nil,
		"x*":                     {"x"}, // a prefix
		"Bash|.*":                nil,
	} {
		m, err := matcher.Compile(pattern, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Literals(); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", pattern, got, want)
		}
	}
	m, err := matcher.Compile("^Agent", nil)
	if err != nil || m.Match("Task") != matcher.Yes || !matcher.Holds("Task", m.Literals()[0]) || matcher.Holds("Bash", m.Literals()[0]) {
		t.Error("an alias does not hold what it stands for")
	}
}
