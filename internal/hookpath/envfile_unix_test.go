//go:build unix

package hookpath

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gate/adapters"
	"gate/hook"
)

// TestTellShell holds where variables for the agent's shell go: into a regular
// file of this account's that the agent names, and nowhere else without a word.
func TestTellShell(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(path("half"), []byte("export A='a'"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path("bashrc"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path("bashrc"), path("link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env    map[string]string
		at     adapters.Environment
		holds  string // the file, afterwards
		notice string // part of the only one
	}{
		{nil, adapters.Environment{EnvFile: path("none")}, "", ""},
		{map[string]string{"TEAM": "it's core"}, adapters.Environment{EnvFile: path("new")}, "export TEAM='it'\\''s core'\n", ""},
		{map[string]string{"B": "b"}, adapters.Environment{EnvFile: path("half")}, "export A='a'\nexport B='b'\n", ""},
		{map[string]string{"B": "b", "CLAUDE_X": "x"}, adapters.Environment{EnvFile: path("some")}, "export B='b'\n", "no variables for the shell: CLAUDE_X"},
		{map[string]string{"B": "b"}, adapters.Environment{EnvFile: path("link")}, "", "are lost: "},
		{map[string]string{"B": "b"}, adapters.Environment{EnvFile: path("fifo")}, "", "are lost: "},
		{map[string]string{"B": "b"}, adapters.Environment{EnvFile: dir}, "", "are lost: "},
		{map[string]string{"B": "b"}, adapters.Environment{EnvFile: "env.sh"}, "", "are lost: CLAUDE_ENV_FILE is no absolute path"},
		{map[string]string{"B": "b"}, adapters.Environment{}, "", "are lost: the agent takes none on SessionStart"},
		{map[string]string{"B": "b"}, adapters.Environment{EnvAnswer: true}, "", ""},
	} {
		d := hook.Decision{Event: hook.SessionStart, Env: c.env}
		tellShell(c.at, &d)
		if c.notice == "" && len(d.Notices) > 0 || c.notice != "" && (len(d.Notices) != 1 || !strings.Contains(d.Notices[0], c.notice)) {
			t.Errorf("%v into %+v: %q", c.env, c.at, d.Notices)
		}
		info, err := os.Lstat(c.at.EnvFile)
		if err != nil || !info.Mode().IsRegular() {
			if c.holds != "" {
				t.Errorf("%v into %+v: there is no file", c.env, c.at)
			}
			continue
		}
		if holds, _ := os.ReadFile(c.at.EnvFile); string(holds) != c.holds {
			t.Errorf("%v into %+v: it holds %q, want %q", c.env, c.at, holds, c.holds)
		}
	}
	if holds, _ := os.ReadFile(path("bashrc")); len(holds) > 0 {
		t.Errorf("behind the link: %q", holds)
	}
}
