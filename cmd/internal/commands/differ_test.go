package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// told is all that a program says about an event, and what it writes down, less
// what differs from call to call.
type told struct {
	status         int
	stdout, stderr string
	record         string
}

// tell has a program answer an event on a machine of its own.
func tellGate(t *testing.T, dir, program, event string, args ...string) told {
	t.Helper()
	state := filepath.Join(dir, "state")
	if err := os.RemoveAll(filepath.Join(state, "decisions.jsonl")); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(state, "decisions.head"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append(args, "--agent", "claude", "--managed-dir", filepath.Join(dir, "managed"),
		"--user-dir", filepath.Join(dir, "user"), "--state-dir", state)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(event), &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(state, "decisions.jsonl"))
	if err != nil {
		t.Fatalf("%s wrote nothing down about %s: %v", program, event, err)
	}
	return told{cmd.ProcessState.ExitCode(), withoutIDs(stdout.String()), withoutIDs(stderr.String()), timeless(t, log)}
}

func withoutIDs(s string) string {
	return regexp.MustCompile(`\(gate [0-9a-z]{6}\)`).ReplaceAllString(s, "(gate ID)")
}

// timeless is a record without its ids, times and durations.
func timeless(t *testing.T, line []byte) string {
	t.Helper()
	var doc any
	if err := json.Unmarshal(line, &doc); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	var strip func(v any) any
	strip = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for key := range v {
				switch key {
				case "id", "decision_id", "chain", "timestamp", "now", "metrics", "took_us", "took":
					if _, text := v[key].(string); key != "id" || text && len(v[key].(string)) == 6 {
						delete(v, key)
						continue
					}
				}
				v[key] = strip(v[key])
			}
		case []any:
			for i := range v {
				v[i] = strip(v[i])
			}
		}
		return v
	}
	out, err := json.Marshal(strip(doc))
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`/proc/[0-9]+/`).ReplaceAllString(withoutIDs(string(out)), "/proc/PID/")
}

// differEvery is how many lines of the library's corpus go by for each that both
// programs are asked about: they take milliseconds each.
const differEvery = 12

// TestThinDiffers has gate and gate-hook answer the same events of the library's
// corpus: not a byte of the answers differs, nor of what is written down, but for
// ids and times. gate-hook is alone, so that it can hand nothing over.
func TestThinDiffers(t *testing.T) {
	alone := aloneProgram(t, "gate-hook")
	lines, err := os.ReadFile("../../../policies/testdata/lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "project"), 0o700); err != nil {
		t.Fatal(err)
	}
	n, asked, denied := 0, 0, 0
	for line := range strings.Lines(string(lines)) {
		_, command, ok := strings.Cut(strings.TrimSpace(line), " ")
		if n++; !ok || strings.HasPrefix(line, "#") || n%differEvery != 0 {
			continue
		}
		event := strings.Replace(strings.Replace(bashEvent, "LINE", quoteJSON(command), 1), `"cwd":"/tmp"`, `"cwd":`+quoteJSON(filepath.Join(dir, "project")), 1)
		if event == bashEvent {
			continue
		}
		fat := tellGate(t, dir, "gate-files", event, "hook")
		thin := tellGate(t, dir, alone, event)
		if fat != thin {
			t.Errorf("%s\ngate:      %+v\ngate-hook: %+v", command, fat, thin)
		}
		if asked++; fat.status == 2 {
			denied++
		}
	}
	if asked < 50 || denied < 10 {
		t.Errorf("%d events, %d denied", asked, denied)
	}
}

// aloneProgram copies a program of the scripts to where nothing lies beside it.
func aloneProgram(t *testing.T, name string) string {
	t.Helper()
	from, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), filepath.Base(from))
	if err := os.WriteFile(to, data, 0o700); err != nil {
		t.Fatal(err)
	}
	return to
}
