package commands

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"gate/hook"
	"gate/internal/audit"
)

// client is Claude Code as far as gate is concerned: it reads what gate install
// --scope managed wrote, starts the hooks of an event as they stand there, and
// gives them the event: client STATUS EVENT file. The script's managed directory
// is in the place of the system's.
func client(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: client status event file")
	}
	startHook(ts, args[0], args[1], args[2])
}

// startHook starts the installed hook for an event, and returns what it writes
// to standard error.
func startHook(ts *testscript.TestScript, status, event, file string) string {
	words := installed(ts, event)
	cmd := exec.Command(words[0], append(words[1:], "--managed-dir="+filepath.Join(ts.Getenv("WORK"), "managed"))...)
	cmd.Env = []string{}
	for _, name := range []string{"HOME", "USERPROFILE", "PATH", "TMPDIR", "SystemRoot", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "GATE_DISABLE", "GATE_MANAGED_DIR"} {
		if v := ts.Getenv(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.Dir = ts.MkAbs("project")
	cmd.Stdin = strings.NewReader(expanded(ts, file))
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = ts.Stdout(), io.MultiWriter(ts.Stderr(), &said)
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		ts.Fatalf("the installed hook: %v", err)
	}
	if got := map[int]string{0: "0", 2: "2"}[cmd.ProcessState.ExitCode()]; got != status {
		ts.Fatalf("the installed hook ended with status %d, want %s", cmd.ProcessState.ExitCode(), status)
	}
	return said.String()
}

func expanded(ts *testscript.TestScript, file string) string {
	return strings.ReplaceAll(ts.ReadFile(file), "$WORK", filepath.ToSlash(ts.Getenv("WORK")))
}

// installed is the command of the hook for an event, as it stands in Claude
// Code's managed settings.
func installed(ts *testscript.TestScript, event string) []string {
	files, err := filepath.Glob(filepath.Join(ts.Getenv("TEST_ROOT"), "*", "*", "managed-settings.d", "*.json"))
	ts.Check(err)
	if len(files) != 1 {
		ts.Fatalf("gate is not installed: %q", files)
	}
	data, err := os.ReadFile(files[0])
	ts.Check(err)
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string
				Args    []string
			}
		}
	}
	ts.Check(json.Unmarshal(data, &settings))
	groups := settings.Hooks[event]
	if len(groups) != 1 || len(groups[0].Hooks) != 1 || len(groups[0].Hooks[0].Args) == 0 {
		ts.Fatalf("%s: one hook for %s is wanted", files[0], event)
	}
	return append([]string{groups[0].Hooks[0].Command}, groups[0].Hooks[0].Args...)
}

// refuses has the client make the call of a file, and wants it denied, the reason
// to match, and one more record in the decision log that says the same:
// refuses file REGEXP.
func refuses(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: refuses file regexp")
	}
	before := len(records(ts))
	said := startHook(ts, "2", "PreToolUse", args[0])
	wanted, err := regexp.Compile(args[1])
	ts.Check(err)
	if !wanted.MatchString(said) {
		ts.Fatalf("the agent is told %q", said)
	}
	after := records(ts)
	if len(after) == 0 || len(after) != before+1 {
		ts.Fatalf("%d records in the log, %d before", len(after), before)
	}
	last := after[len(after)-1]
	said = strings.Join(last.Faults, "\n")
	for _, r := range last.Reasons {
		said += "\n" + r.Reason
	}
	if last.Effect != hook.Deny || last.Result != hook.Reject || !wanted.MatchString(said) {
		ts.Fatalf("the log has %s, %s: %q", last.Effect, last.Result, said)
	}
}

// records are those of the script's decision log; none if there is no log.
func records(ts *testscript.TestScript) (list []audit.Record) {
	data, err := os.ReadFile(ts.MkAbs("state/decisions.jsonl"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		r, err := audit.Parse([]byte(line))
		ts.Check(err)
		list = append(list, r)
	}
	return list
}

// shows wants gate settings, in the script's project, to have lines that match:
// shows REGEXP...
func shows(ts *testscript.TestScript, neg bool, args []string) {
	runs(ts, false, []string{"settings", "--dir=" + ts.MkAbs("project")})
	for _, text := range args {
		wanted, err := regexp.Compile("(?m)" + text)
		ts.Check(err)
		if wanted.MatchString(ts.ReadFile("stdout")) == neg {
			ts.Fatalf("gate settings shows no line %s", text)
		}
	}
}
