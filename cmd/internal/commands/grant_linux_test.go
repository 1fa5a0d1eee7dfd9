package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A looking machine has the real program look at processes and terminals.
type lookingMachine struct{ *machine }

func newLookingMachine(t *testing.T) lookingMachine {
	if _, err := os.Stat("/dev/ptmx"); err != nil {
		t.Skip(err)
	}
	return lookingMachine{newMachine(t)}
}

// dirs are the flags of the machine's directories.
func (m lookingMachine) dirs() []string {
	return []string{"--managed-dir", filepath.Join(m.dir, "managed"), "--user-dir", filepath.Join(m.dir, "user"), "--state-dir", filepath.Join(m.dir, "state")}
}

// command is gate, as it is started by a person or by somebody who would be one.
func (m lookingMachine) command(before []string, args ...string) *exec.Cmd {
	words := append(append(before, "gate"), append(args, m.dirs()...)...)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = m.project
	cmd.Env = []string{"HOME=" + m.dir, "PATH=" + os.Getenv("PATH"), "TEST_LOOKS=1"}
	return cmd
}

// settings are what the user's settings file says.
func (m lookingMachine) settings() string {
	data, _ := os.ReadFile(filepath.Join(m.dir, "user", "settings.json"))
	return string(data)
}

// underAgent reports that the tests themselves run below an agent: then nobody can agree
// to anything here.
func underAgent(t *testing.T) {
	t.Helper()
	if err := noAgent(host()); err != nil {
		t.Skip("an agent runs these tests: ", err)
	}
}

// loosenings are the commands that loosen, on a machine that is installed and trusted
// by nobody.
var loosenings = [][]string{
	{"trust"}, {"set", "disableAllHooks", "true"}, {"set", "policies.gate.git", "off"}, {"set", "deadline", "5s"}, {"set", "faults", "--unset"},
	{"uninstall", "claude", "--scope", "project"}, {"settings", "confirm"}, {"session", "remove", "--session", "s", "1"},
}

// loosenable prepares a machine for loosenings.
func (m lookingMachine) loosenable() {
	m.t.Helper()
	m.write("project/.gate/policies/shorten.rego", shorten)
	m.write("user/settings.json", `{"faults": "deny", "log": false}`)
	if out, err := m.command(nil, "install", "claude", "--scope", "project").CombinedOutput(); err != nil {
		m.t.Fatalf("%v: %s", err, out)
	}
}

// TestOwnTerminal has a program make a pseudo-terminal, read the code and type it, as any
// program can: each command that loosens refuses it.
func TestOwnTerminal(t *testing.T) {
	underAgent(t)
	for _, args := range loosenings {
		m := newLookingMachine(t)
		m.loosenable()
		before := m.settings()
		out, err := onTerminal(m.command(nil, args...))
		if err == nil || !strings.Contains(out, "held by no login, terminal emulator or multiplexer of a person") {
			t.Errorf("%s: %v: %s", args, err, out)
		}
		if m.settings() != before {
			t.Errorf("%s changed settings to %s", args, m.settings())
		}
	}
}

// TestPersonsTerminal has the same typed at a terminal emulator. One whose file an
// ordinary account wrote itself is none.
func TestPersonsTerminal(t *testing.T) {
	underAgent(t)
	for _, args := range loosenings[:6] {
		m := newLookingMachine(t)
		m.loosenable()
		out, err := m.command([]string{"xterm"}, args...).CombinedOutput()
		switch {
		case os.Geteuid() != 0:
			if err == nil || !strings.Contains(string(out), "its file is this account's to write") {
				t.Errorf("%s: %v: %s", args, err, out)
			}
		case err != nil:
			t.Errorf("%s: %v: %s", args, err, out)
		}
	}
}

// TestTrustAtTerminal trusts a project at a terminal by typing what it shows; and not by
// typing yes, and never within an agent's session.
func TestTrustAtTerminal(t *testing.T) {
	underAgent(t)
	m := newLookingMachine(t)
	m.write("project/.gate/policies/shorten.rego", shorten)
	trust := m.command([]string{"xterm"}, "trust")
	trust.Env = append(trust.Env, "CLAUDECODE=1")
	if out, err := trust.CombinedOutput(); err == nil || !strings.Contains(string(out), "within an agent") {
		t.Errorf("trusted within an agent's session: %s", out)
	}
	if os.Geteuid() != 0 {
		return // TestPersonsTerminal has the rest
	}
	out, err := m.command([]string{"xterm", "sh", "-c", `printf 'yes\n' | "$@"`, "sh"}, "trust").CombinedOutput()
	if err == nil {
		t.Errorf("yes was enough: %s", out)
	}
	out, err = m.command([]string{"xterm"}, "trust").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "is trusted with this content") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestMakefile plays the trick that got through once: an agent runs make, and a rule
// starts gate in a session of its own, without the agent's variables.
func TestMakefile(t *testing.T) {
	for _, program := range []string{"make", "setsid", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	m := newLookingMachine(t)
	m.write("user/settings.json", "{}")
	m.write("agent/claude", "#!/bin/sh\nmake -C \"$1\"\nsleep 1\n")
	m.write("project/install.sh", "#!/bin/sh\n"+strings.Join(append([]string{"exec", "gate", "set", "disableAllHooks", "true"}, m.dirs()...), " ")+" >>said 2>&1\n")
	m.write("project/Makefile", "all:\n\tsetsid -f env -u CLAUDECODE sh install.sh\n\tsetsid -f env -u CLAUDECODE script -qec 'sh install.sh' /dev/null </dev/null || true\n")
	cmd := exec.Command("sh", filepath.Join(m.dir, "agent", "claude"), m.project)
	cmd.Env = []string{"HOME=" + m.dir, "PATH=" + os.Getenv("PATH"), "TEST_LOOKS=1", "CLAUDECODE=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	said := ""
	for range 100 { // the rule does not wait for it
		data, _ := os.ReadFile(filepath.Join(m.project, "said"))
		if said = string(data); strings.Count(said, "gate:") >= 1 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if m.settings() != "{}" || !strings.Contains(said, "gate:") {
		t.Errorf("settings are %s; gate said %q", m.settings(), said)
	}
}

// TestDirectWrite has a process of the account write the user's settings, which nobody
// can keep it from: the next call and each new session say so, and status does, until a
// person confirms it. Managed policies are not touched by it.
func TestDirectWrite(t *testing.T) {
	m := newMachine(t)
	const told = "settings loosen disableAllHooks: it was not set and is true"
	start := strings.Replace(`{"session_id":"s9","transcript_path":"/t","cwd":"DIR","hook_event_name":"SessionStart","source":"startup"}`, `"DIR"`, quoteJSON(m.project), 1)
	starts := func() string {
		_, out, _ := m.gate(strings.NewReader(start), false, "hook", "--agent", "claude")
		return out
	}
	if out := starts(); strings.Contains(out, "loosen") {
		t.Errorf("nothing is loosened: %s", out)
	}
	m.write("user/settings.json", `{"disableAllHooks": true}`)
	if status, answer := m.hook("rm -rf ~"); status != 0 || !strings.Contains(answer, told) {
		t.Errorf("the next call, status %d: %s", status, answer)
	}
	if _, answer := m.hook("ls"); strings.Contains(answer, told) {
		t.Errorf("the call after it says it again: %s", answer)
	}
	for range 2 {
		if out := starts(); !strings.Contains(out, told) {
			t.Errorf("a new session does not say it: %s", out)
		}
	}
	status := exec.Command("gate", "status", "--managed-dir", filepath.Join(m.dir, "managed"), "--user-dir", filepath.Join(m.dir, "user"), "--state-dir", filepath.Join(m.dir, "state"))
	status.Env, status.Dir = []string{"HOME=" + m.dir, "PATH=" + os.Getenv("PATH")}, m.project
	if out, _ := status.CombinedOutput(); !strings.Contains(string(out), told) {
		t.Errorf("gate status does not say it: %s", out)
	}
	if _, out, _ := m.gate(nil, false, "log", "--json"); !strings.Contains(out, told) {
		t.Errorf("the log does not say it: %s", out)
	}
	if status, _, errs := m.gate(nil, true, "settings", "confirm"); status != 0 {
		t.Fatalf("gate settings confirm: %s", errs)
	}
	if out := starts(); strings.Contains(out, "settings loosen") {
		t.Errorf("it is confirmed and told all the same: %s", out)
	}
	m.write("user/settings.json", `{"faults": "deny"}`)
	starts() // what tightens is remembered
	m.write("user/settings.json", `{"disableAllHooks": true}`)
	out := starts()
	for _, want := range []string{told, `settings loosen faults: it was \"deny\" and is not set`} {
		if !strings.Contains(out, want) {
			t.Errorf("taken back and written again: %s", out)
		}
	}
	m.write("managed/policies/no.rego", "# METADATA\n# title: no\n# custom:\n#   gate:\n#     events: [PreToolUse]\npackage acme.no\n\ndeny contains \"managed says no\" if input.tool_input.command == \"true\"\n")
	if status, answer := m.hook("true"); status != 2 || !strings.Contains(answer, "managed says no") {
		t.Errorf("a user's settings switched a managed policy off: status %d: %s", status, answer)
	}
}
