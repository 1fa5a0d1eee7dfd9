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
			lines := linesWith(t, "gemini", c.program, c.mode)
			for _, shell := range []string{"sh", "bash"} {
				if _, err := exec.LookPath(shell); err != nil {
					continue
				}
				status, _, got := start(t, shell, lines["BeforeTool"])
				if status != c.status {
					t.Errorf("%s: status %d, want %d", shell, status, c.status)
				}
				if c.stderr == refuses && !strings.Contains(got, refuses) || c.stderr != refuses && got != c.stderr {
					t.Errorf("%s: it says %q, want %q", shell, got, c.stderr)
				}
			}
		})
	}
}

// TestNoAnswerDenies holds that Copilot's model reads why a call does not run:
// beside status 2 Copilot reads an answer on standard output, and no text on standard
// error.
func TestNoAnswerDenies(t *testing.T) {
	const denies = `{"permissionDecision":"deny","permissionDecisionReason":"gate gave no answer, so this call does not run. A person can repair this with: gate doctor --fix"}` + "\n"
	for _, c := range []struct {
		name, program string
		mode          os.FileMode // 0 for no program
		status        int
		stdout        string
	}{
		{"passes", "#!/bin/sh\nexit 0\n", 0o755, 0, ""},
		{"answers", "#!/bin/sh\necho '{}'\n", 0o755, 0, "{}\n"},
		{"refuses by status", "#!/bin/sh\nexit 2\n", 0o755, 2, ""},
		{"is missing", "", 0, 2, denies},
		{"is empty, as after a full disk", "", 0o755, 2, denies},
		{"is no program", "\x7fELF\x00\x00", 0o755, 2, denies},
		{"crashes", "#!/bin/sh\nkill -9 $$\n", 0o755, 2, denies},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := linesWith(t, "copilot", c.program, c.mode)
			if status, stdout, _ := start(t, "sh", lines["preToolUse"]); status != c.status || stdout != c.stdout {
				t.Errorf("status %d, want %d; it says %q, want %q", status, c.status, stdout, c.stdout)
			}
		})
	}
}

// TestNoAnswerTells holds that a prompt stays open, also with Gemini, which stops it
// for any failure of a hook, and that the person reads what to do. What comes after
// a call and at the end of Gemini's turn stays open, too: it would go on for ever.
func TestNoAnswerTells(t *testing.T) {
	const tells = `{"systemMessage":"gate gave no answer, so tools are not called. Repair this with: gate doctor --fix"}` + "\n"
	for _, c := range []struct {
		name, program  string
		mode           os.FileMode // 0 for no program
		status         int
		prompt, others string // standard output
	}{
		{"passes", "#!/bin/sh\nexit 0\n", 0o755, 0, "", ""},
		{"answers", "#!/bin/sh\necho '{}'\n", 0o755, 0, "{}\n", "{}\n"},
		{"refuses by status", "#!/bin/sh\nexit 2\n", 0o755, 2, "", ""},
		{"is missing", "", 0, 0, tells, ""},
		{"may not be run", "#!/bin/sh\nexit 0\n", 0o644, 0, tells, ""},
		{"is empty, as after a full disk", "", 0o755, 0, tells, ""},
		{"is no program", "\x7fELF\x00\x00", 0o755, 0, tells, ""},
		{"crashes", "#!/bin/sh\nkill -9 $$\n", 0o755, 0, tells, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			prompt := linesWith(t, "claude", c.program, c.mode)["UserPromptSubmit"]
			if status, stdout, _ := start(t, "sh", prompt); status != c.status || stdout != c.prompt {
				t.Errorf("Claude Code: status %d, want %d; it says %q, want %q", status, c.status, stdout, c.prompt)
			}
			lines := linesWith(t, "gemini", c.program, c.mode)
			for event, want := range map[string]string{"BeforeAgent": c.prompt, "AfterTool": c.others, "AfterAgent": c.others, "SessionStart": c.others} {
				if status, stdout, _ := start(t, "sh", lines[event]); status != c.status || stdout != want {
					t.Errorf("%s: status %d, want %d; it says %q, want %q", event, status, c.status, stdout, want)
				}
			}
		})
	}
}

// linesWith are the command lines that are installed for an agent, by event, where
// gate's program has this text, or is gone if mode is 0.
func linesWith(t *testing.T, agent, program string, mode os.FileMode) map[string]string {
	t.Helper()
	m := machine(t)
	m.UserDir, m.StateDir = "", ""
	path := filepath.Join(m.Root, "it's here", "gate-hook")
	m.Command = []string{path}
	write(t, path, program)
	must(t, os.Chmod(path, max(mode, 0o600)))
	plan, err := m.Install(install.Request{Agent: agent, Scope: install.User})
	must(t, err)
	if mode == 0 {
		must(t, os.Remove(path))
	}
	type handler struct {
		Command, Bash string
		Args          []string
	}
	var file struct {
		Hooks map[string][]struct {
			handler
			Hooks []handler
		}
	}
	must(t, json.Unmarshal(plan.Changes[0].After, &file))
	lines := map[string]string{}
	for event, groups := range file.Hooks {
		h := groups[0].handler
		if len(groups[0].Hooks) > 0 {
			h = groups[0].Hooks[0]
		}
		lines[event] = h.Command + h.Bash
		for _, word := range h.Args {
			lines[event] += " '" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return lines
}

// start has a shell run a command line.
func start(t *testing.T, shell, line string) (status int, stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(shell, "-c", line)
	var out, text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &text
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), text.String()
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
