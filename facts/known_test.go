package facts_test

import (
	"strings"
	"testing"

	"gate/facts"
	"gate/hook"
)

// TestKnown holds which programs gate says it knows, and which operands it guesses
// for the others.
func TestKnown(t *testing.T) {
	r := facts.New(facts.World{Home: "/home/dev", Project: "/p", Programs: map[string]any{"acme": map[string]any{"operands": []any{"text*"}}}})
	for line, want := range map[string]string{
		"ls -l a":                          "ls",
		"cd a && [ -f b ] && export X=1":   "cd; [; export",
		"if true; then :; fi":              "true; :",
		"f() { echo hi; }; f":              "echo",
		"acme deploy -e prod":              "acme",
		"acmectl":                          "acmectl?",
		"acmectl deploy -e prod --yes web": "acmectl? deploy prod web",
		"acmectl -x -- -y - z":             "acmectl? -y - z",
		`acmectl "$X" a`:                   "acmectl? * a",
		"sudo acmectl rm && git status":    "acmectl? rm; git",
		"./run.sh a":                       "run.sh? a",
		"$X a b":                           "*? a b; a? b",
		"strangetool sh -c 'ls a'":         "strangetool? sh ls a; sh; ls",
		"python3 -m acme.tool x":           "python3; acme.tool? x",
	} {
		ev := hook.Event{Name: hook.PreToolUse, Fields: map[string]any{
			"tool_name": "Bash", "tool_input": map[string]any{"command": line}, "cwd": "/p",
		}}
		var got []string
		for _, c := range r.Of(&ev).Shell.Commands {
			one := textOr(c.Program)
			if !c.Known {
				one += "?"
			}
			if c.Guessed {
				for _, o := range c.Operands {
					one += " " + textOr(o)
				}
			}
			got = append(got, one)
		}
		if got := strings.Join(got, "; "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func textOr(s *string) string {
	if s == nil {
		return "*"
	}
	return *s
}
