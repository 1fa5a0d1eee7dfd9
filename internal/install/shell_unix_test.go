//go:build unix

package install_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gate/internal/install"
)

// TestNoAnswerRefuses starts what is installed for an agent that lets calls run
// when a hook does not start: whatever becomes of gate's program, a call is
// stopped unless gate let it pass.
func TestNoAnswerRefuses(t *testing.T) {
	const refuses = "gate gave no answer"
	for _, c := range []struct {
		name, program string
		mode          os.FileMode // 0 for no program
		status        int
		stderr        string // "" for nothing at all
	}{
		{"passes", "#!/bin/sh\nexit 0\n", 0o755, 0, ""},
		{"refuses by status", "#!/bin/sh\necho because >&2\nexit 2\n", 0o755, 2, "because\n"},
		{"has the words", "#!/bin/sh\necho \"$*\" >&2\nexit 2\n", 0o755, 2, "--agent gemini --event BeforeTool\n"},
		{"is missing", "", 0, 2, refuses},
		{"may not be run", "#!/bin/sh\nexit 0\n", 0o644, 2, refuses},
		{"is empty, as after a full disk", "", 0o755, 2, refuses},
		{"is no program", "\x7fELF\x00\x00", 0o755, 2, refuses},
		{"fails", "#!/bin/sh\nexit 1\n", 0o755, 2, refuses},
		{"crashes", "#!/bin/sh\nkill -9 $$\n", 0o755, 2, refuses},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := machine(t)
			m.UserDir, m.StateDir = "", ""
			program := filepath.Join(m.Root, "it's here", "gate-hook")
			m.Command = []string{program}
			write(t, program, c.program)
			must(t, os.Chmod(program, max(c.mode, 0o600)))
			plan, err := m.Install(install.Request{Agent: "gemini", Scope: install.User})
			must(t, err)
			if c.mode == 0 {
				must(t, os.Remove(program))
			}
			var file struct {
				Hooks map[string][]struct{ Hooks []struct{ Command string } }
			}
			must(t, json.Unmarshal(plan.Changes[0].After, &file))
			line := file.Hooks["BeforeTool"][0].Hooks[0].Command
			if strings.Contains(file.Hooks["AfterAgent"][0].Hooks[0].Command, refuses) {
				t.Error("the end of a turn is stopped, too: the agent would go on for ever")
			}
			for _, shell := range []string{"sh", "bash"} {
				if _, err := exec.LookPath(shell); err != nil {
					continue
				}
				cmd := exec.Command(shell, "-c", line)
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				err = cmd.Run()
				var exit *exec.ExitError
				if err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				if got := cmd.ProcessState.ExitCode(); got != c.status {
					t.Errorf("%s: status %d, want %d", shell, got, c.status)
				}
				if got := stderr.String(); c.stderr == refuses && !strings.Contains(got, refuses) || c.stderr != refuses && got != c.stderr {
					t.Errorf("%s: it says %q, want %q", shell, got, c.stderr)
				}
			}
		})
	}
}

// TestClineWithoutGate holds that the program before a call says no by itself where
// gate's is gone: Cline does not look at its status.
func TestClineWithoutGate(t *testing.T) {
	m := machine(t)
	plan := doInstall(t, m, install.Request{Agent: "cline", Scope: install.User})
	for _, damage := range []func(string) error{os.Remove, func(name string) error { return os.WriteFile(name, nil, 0o755) }} {
		must(t, damage(m.Command[0]))
		saysNo(t, plan)
	}
	if s := statusOf(t, m, "cline"); s.Guarded {
		t.Error("it counts as guarded")
	}
}

// saysNo holds that the program before a call refuses, and no other says anything.
func saysNo(t *testing.T, plan install.Plan) {
	t.Helper()
	for _, c := range plan.Changes {
		out, _ := exec.Command(c.Path).Output()
		var answer struct{ Cancel bool }
		if filepath.Base(c.Path) != "PreToolUse" {
			if len(out) > 0 {
				t.Errorf("%s says %s", c.Path, out)
			}
			continue
		}
		if json.Unmarshal(out, &answer) != nil || !answer.Cancel {
			t.Errorf("%s says %s", c.Path, out)
		}
	}
}
