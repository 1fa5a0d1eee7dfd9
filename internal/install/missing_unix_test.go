//go:build unix

package install

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// TestMissingProgram holds, for each agent, that a call does not run while the program
// that its entry names is not there, as it is for a moment in many an upgrade. Most
// agents would run it: there the shell's line before the program refuses. The others
// close by themselves.
func TestMissingProgram(t *testing.T) {
	byItself := map[string]string{
		"antigravity": "the agent closes, as others measured",
		"cline":       "its own program for the event says no: TestClineWithoutGate",
		"cursor":      "failClosed",
		"opencode":    "the plugin throws",
	}
	m := Machine{OS: "linux", Home: "/home/dev", Project: "/home/dev/app", Command: []string{"/nowhere/gate-hook"}}
	for _, a := range tables() {
		before := ""
		for _, event := range a.events {
			if a.stops(event) || a.each && event == "PreToolUse" {
				before = event
			}
		}
		if before == "" && a.id != "opencode" {
			t.Errorf("%s: no event stops a call", a.id)
			continue
		}
		if why := byItself[a.id]; why != "" {
			if a.shut {
				t.Errorf("%s lets calls run, but: %s", a.id, why)
			}
			continue
		}
		var out, text bytes.Buffer
		cmd := exec.Command("/bin/sh", "-c", a.line(m, User, before))
		cmd.Stdout, cmd.Stderr = &out, &text
		var exit *exec.ExitError
		if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 2 {
			t.Errorf("%s: %v", a.id, err)
		}
		said := text.String()
		if a.deny != "" { // Copilot reads an answer there
			said = out.String()
		}
		if !strings.Contains(said, noAnswer) {
			t.Errorf("%s says %q", a.id, said)
		}
	}
	for _, f := range cursorTable.more {
		if f != (field{"failClosed", "true"}) {
			t.Errorf("Cursor's entries have %v", f)
		}
	}
	for _, e := range claudeEvents() {
		if e.name == "PreToolUse" && !e.block {
			t.Error("Claude Code's entries do not close")
		}
	}
}
