package adapters_test

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gate/adapters"
	"gate/hook"
	"gate/internal/strictjson"
)

func TestShellLines(t *testing.T) {
	lines, refused := adapters.ShellLines(map[string]string{
		"TEAM": "core", "EMPTY": "", "_a1": "it's $HOME `id` \"x\"", "B": "two\nlines",
		"": "x", "1A": "x", "A B": "x", "A=B": "x", "Ä": "x", "X;id": "x", "CLAUDE_ENV_FILE": "x", "GATE_X": "x",
		"NUL": "a\x00b", "BAD": "\xff", "LONG": strings.Repeat("x", 1<<17),
	})
	const want = "export B='two\nlines'\nexport EMPTY=''\nexport TEAM='core'\nexport _a1='it'\\''s $HOME `id` \"x\"'\n"
	if string(lines) != want {
		t.Errorf("got  %q\nwant %q", lines, want)
	}
	if want := []string{"", "1A", "A B", "A=B", "BAD", "CLAUDE_ENV_FILE", "GATE_X", "LONG", "NUL", "X;id", "Ä"}; !slices.Equal(refused, want) {
		t.Errorf("refused %q, want %q", refused, want)
	}
	many := map[string]string{}
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		many[string(c)] = strings.Repeat("x", 60<<10)
	}
	if lines, refused := adapters.ShellLines(many); len(lines) > 1<<20 || len(refused) == 0 {
		t.Errorf("%d bytes, %d refused", len(lines), len(refused))
	}
}

// FuzzShellLines holds that a shell which reads the lines has exactly the
// variables that were given, and runs nothing.
func FuzzShellLines(f *testing.F) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		f.Skip("no sh here")
	}
	f.Add("TEAM", "core", "X", "it's")
	f.Add("A", "'; exit 3; '", "B", "$(exit 3)\n`exit 3`\\")
	f.Add("A;B", "x", "B", "'\\''")
	f.Fuzz(func(t *testing.T, name1, value1, name2, value2 string) {
		if len(strictjson.Visible(name1)) > 90 || len(strictjson.Visible(name2)) > 90 {
			return // what is refused is named in short
		}
		env := map[string]string{name1: value1, name2: value2}
		lines, refused := adapters.ShellLines(env)
		maps.DeleteFunc(env, func(name, _ string) bool {
			return slices.Contains(refused, strictjson.Visible(name))
		})
		for name, value := range env {
			if len(value) > 1<<10 || slices.Contains([]string{"PATH", "IFS", "PS4", "ENV", "PWD", "OPTIND", "PPID", "LINENO", "_"}, name) {
				continue // what a shell itself minds
			}
			cmd := exec.Command(sh, "-c", string(lines)+`printf %s "$`+name+`"`)
			out, err := cmd.CombinedOutput()
			if err != nil || string(out) != value {
				t.Fatalf("%q is %q (%v), want %q; lines %q", name, out, err, value, lines)
			}
		}
	})
}

// TestEnvAnswer holds that programs get variables with the answer.
func TestEnvAnswer(t *testing.T) {
	d := hook.Decision{Env: map[string]string{"TEAM": "core", "CLAUDE_X": "x", "B": "\xff"}}
	got := string(adapter(t, "generic").Render(&hook.Event{Name: hook.SessionStart}, &d).Stdout)
	if !strings.Contains(got, `"env":{"TEAM":"core"}`) {
		t.Error(got)
	}
}
