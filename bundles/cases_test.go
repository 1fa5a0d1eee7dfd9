package bundles

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// A textCase is one case of a file: steps, and what is wanted.
type textCase struct {
	name, want string
	steps      []string
}

func (c textCase) check(t *testing.T, err error) {
	t.Helper()
	got := "ok"
	if err != nil {
		got = string(reasonOf(err))
	}
	if got != c.want {
		t.Errorf("%s (%v), want %s", got, err, c.want)
	}
	if err != nil && strings.ContainsAny(err.Error(), "\x1b\x00\u202e\u200b") {
		t.Errorf("the message %q can change a terminal", err)
	}
}

// reasonOf is the first reason within err, or "".
func reasonOf(err error) Reason {
	for _, r := range Refusals(err) {
		return r.Reason
	}
	return ""
}

func readCases(t *testing.T, file string) []textCase {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []textCase
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || word == "#":
		case word == "case":
			cases = append(cases, textCase{name: rest})
		case len(cases) == 0:
			t.Fatalf("%s: %q before the first case", file, line)
		case word == "want":
			cases[len(cases)-1].want = rest
		default:
			c := &cases[len(cases)-1]
			c.steps = append(c.steps, line)
		}
	}
	for _, c := range cases {
		if c.want == "" {
			t.Fatalf("%s: %s wants nothing", file, c.name)
		}
	}
	return cases
}

// args splits the words of a step; words in quotes are Go strings.
func args(t *testing.T, step string) []string {
	t.Helper()
	var list []string
	for rest := step; rest != ""; rest = strings.TrimLeft(rest, " ") {
		if rest[0] != '"' {
			word, after, _ := strings.Cut(rest, " ")
			list, rest = append(list, word), after
			continue
		}
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		word, _ := strconv.Unquote(quoted)
		list, rest = append(list, word), rest[len(quoted):]
	}
	return list
}
