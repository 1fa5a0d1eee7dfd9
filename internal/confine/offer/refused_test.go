package offer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/confine/profile"
	"gate/internal/confine/record"
)

// TestRefused holds what of an output is taken for a refusal: what the profile bears out.
func TestRefused(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(home, "project")
	for _, name := range []string{".ssh/id_rsa", "notes/today.txt", "project/.env", "project/main.go", "project/.git/HEAD", ".gitconfig"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../notes", filepath.Join(project, "link")); err != nil {
		t.Fatal(err)
	}
	at := profile.Place{Home: home, Project: project}
	const hidden, fixed, guard, secrets = "the profile does not show it", "the profile does not let it be changed", "it starts by itself or guards the agent", "it holds secrets"
	for said, want := range map[string][]string{
		"cat: HOME/.ssh/id_rsa: No such file or directory":                     {"HOME/.ssh/id_rsa", hidden},
		"open ~/notes/today.txt: no such file or directory":                    {"~/notes/today.txt", hidden},
		"Error: ENOENT: no such file or directory, open 'HOME/notes'":          {"HOME/notes", hidden},
		"cat: ../notes/today.txt: No such file or directory":                   {"../notes/today.txt", hidden},
		"cat: link/today.txt: No such file or directory":                       {"link/today.txt", hidden},
		"cat: ./.env: Permission denied":                                       {"./.env", secrets},
		"sh: 1: cannot create HOME/.gitconfig: Read-only file system":          {"HOME/.gitconfig", fixed},
		"touch: cannot touch '.git/hooks/x': Read-only file system":            {".git/hooks/x", guard},
		"mv: cannot move './.git' to './x': Device or resource busy":           {"./.git", guard},
		"./main.go: 4: cannot create ~/notes/today.txt: Read-only file system": {"~/notes/today.txt", hidden},
		"fatal: unable to access: Could not resolve host: github.com":          {"the network", "the profile has no hosts"},
		"cat: HOME/.ssh/nothing: No such file or directory":                    nil,
		"./main.go:3:1: Permission denied by nobody":                           nil,
		"HOME/.ssh/id_rsa was read":                                            nil,
		"cat: 'HOME/.ssh/id_rsa\u202e': No such file or directory":             nil,
		"x/" + strings.Repeat("y", 300) + ": No such file or directory":        nil,
		strings.Repeat("z", 5000) + "HOME/.ssh/id_rsa: no such file ...":       nil,
	} {
		p, _ := profile.Builtin("project")
		p, err := p.At(at)
		if err != nil {
			t.Fatal(err)
		}
		told := record.Told{Record: record.Record{Profile: p, Place: at, Dir: project}}
		ev := &hook.Event{Fields: map[string]any{"tool_response": map[string]any{"stderr": strings.ReplaceAll(said, "HOME", home)}}}
		var list []string
		if len(want) > 0 {
			list = []string{strings.ReplaceAll(want[0], "HOME", home) + " (by its output: " + want[1] + ")"}
		}
		if got := refused(ev, told); !slices.Equal(got, list) {
			t.Errorf("%s: %q, want %q", said, got, list)
		}
	}
	p, _ := profile.Builtin("project-net")
	told := record.Told{Record: record.Record{Profile: p, Place: at, Dir: project}}
	long := strings.Repeat("x\n", mostOutput) + strings.Repeat("getaddrinfo EAI_AGAIN x.example\n", 3)
	got := refused(&hook.Event{Fields: map[string]any{"error": []any{long}}}, told)
	if len(got) != 1 || !strings.Contains(got[0], "only programs that use the proxy") {
		t.Errorf("%q", got)
	}
}
