package commands

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"gate/internal/audit"
	"gate/internal/load"
)

// hookProcess is gate hook with directories of the test.
func hookProcess(t *testing.T, stdin io.Reader, args ...string) (process, *bytes.Buffer, *bytes.Buffer) {
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	return process{
		args: append([]string{"hook",
			"--managed-dir", filepath.Join(dir, "managed"), "--user-dir", filepath.Join(dir, "user"),
			"--state-dir", filepath.Join(dir, "state"),
		}, args...),
		stdin: stdin, stdout: &stdout, stderr: &stderr,
		env:  []string{"HOME=" + dir},
		exit: func(status int) { t.Errorf("the process would exit with %d", status) },
	}, &stdout, &stderr
}

const bashEvent = `{"session_id":"s","transcript_path":"/t","cwd":"/tmp","hook_event_name":"PreToolUse",` +
	`"permission_mode":"default","tool_name":"Bash","tool_input":{"command":LINE},"tool_use_id":"u"}`

func bash(line string) io.Reader {
	return strings.NewReader(strings.Replace(bashEvent, "LINE", quoteJSON(line), 1))
}

func quoteJSON(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// repeat is endless input.
type repeat string

func (r repeat) Read(p []byte) (int, error) {
	return copy(p, strings.Repeat(string(r), len(p)/len(r)+1)), nil
}

// drip gives a byte at a time, slowly and for ever.
type drip struct{}

func (drip) Read(p []byte) (int, error) {
	time.Sleep(10 * time.Millisecond)
	return copy(p[:1], "{"), nil
}

// explode panics.
type explode struct{}

func (explode) Read([]byte) (int, error) { panic("kaboom") }

// TestHookInput gives gate what no agent in its senses would: each is
// answered in the blocking form, in time, with exit status 2.
func TestHookInput(t *testing.T) {
	never, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	deep := strings.Repeat("[", 100_000)
	for _, test := range []struct {
		name  string
		stdin io.Reader
		want  string
	}{
		{"empty", strings.NewReader(""), "no event on standard input"},
		{"blank", strings.NewReader(" \n\n"), "no event on standard input"},
		{"endless", repeat(`{"a":`), "larger than"},
		{"endless blanks", repeat(" "), "larger than"},
		{"dripping", drip{}, "did not end in time"},
		{"never closed", never, "did not end in time"},
		{"deep", strings.NewReader(`{"session_id":` + deep), "nested deeper"},
		{"many keys", strings.NewReader(`{"a":[` + strings.Repeat("0,", 300_000) + `0]}`), "too many keys"},
		{"invalid UTF-8", strings.NewReader("{\"session_id\":\"\xff\"}"), "UTF-8"},
		{"lone surrogate", strings.NewReader(`{"session_id":"\ud800"}`), "surrogate"},
		{"byte order mark", strings.NewReader("\ufeff{}"), "event"},
		{"null", strings.NewReader("null"), "object"},
		{"list", strings.NewReader("[]"), "object"},
		{"number", strings.NewReader(`{"session_id":1e999}`), "event"},
		{"broken pipe", iotest.ErrReader(errors.New("device gone")), "device gone"},
		{"panic", explode{}, "kaboom"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, stdout, stderr := hookProcess(t, test.stdin, "--agent", "claude", "--event", "PreToolUse", "--timeout", "2s")
			status := run(t.Context(), p)
			if status != 2 {
				t.Errorf("status %d, want 2", status)
			}
			if !strings.HasPrefix(stdout.String(), `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"`) {
				t.Errorf("stdout %q does not deny", stdout)
			}
			first, _, _ := strings.Cut(stderr.String(), "\n")
			if !strings.Contains(first, test.want) {
				t.Errorf("stderr begins with %q, want %q in it", first, test.want)
			}
		})
	}
}

// TestHookStopped cancels the call, as a signal does, at some moments: there is
// one whole answer, and it does not let the call go on.
func TestHookStopped(t *testing.T) {
	for _, wait := range []time.Duration{0, time.Millisecond, 10 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		never, w := io.Pipe()
		p, stdout, stderr := hookProcess(t, never, "--agent", "claude", "--event", "PreToolUse")
		status := run(ctx, p)
		cancel()
		w.Close()
		if status != 2 || strings.Count(stdout.String(), "permissionDecision\":\"deny") != 1 || stderr.Len() == 0 {
			t.Errorf("after %s: status %d, stdout %q, stderr %q", wait, status, stdout, stderr)
		}
	}
}

// TestHookNoTime has no time for a decision: the answer is a denial, not none.
func TestHookNoTime(t *testing.T) {
	p, stdout, _ := hookProcess(t, bash("ls"), "--agent", "claude", "--event", "PreToolUse", "--timeout", "1ns")
	if status := run(t.Context(), p); status != 2 || !strings.Contains(stdout.String(), `"permissionDecision":"deny"`) {
		t.Errorf("status %d, stdout %q", status, stdout)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, fs.ErrClosed }

// TestHookOutputClosed loses the answer on standard output; the status blocks
// all the same, and stderr says why.
func TestHookOutputClosed(t *testing.T) {
	p, _, stderr := hookProcess(t, bash("git push --force origin main"), "--agent", "claude", "--event", "PreToolUse")
	p.stdout = brokenWriter{}
	if status := run(t.Context(), p); status != 2 || !strings.Contains(stderr.String(), "overwrites the history") {
		t.Errorf("status %d, stderr %q", status, stderr)
	}
	p, _, _ = hookProcess(t, bash("ls"), "--agent", "claude", "--event", "PreToolUse")
	p.stdout, p.stderr = brokenWriter{}, brokenWriter{}
	if status := run(t.Context(), p); status != 0 {
		t.Errorf("a call that needs no answer: status %d", status)
	}
}

// TestHookOutOfMemory runs a policy that eats memory. Either it is cancelled or
// the process ends; both deny.
func TestHookOutOfMemory(t *testing.T) {
	p, stdout, _ := hookProcess(t, bash("ls"), "--agent", "claude", "--event", "PreToolUse")
	dir := filepath.Join(p.args[4], load.PoliciesDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	policy := `# METADATA
# title: eats
# custom:
#   gate:
#     events: [PreToolUse]
#     on_fault: deny
package acme.eats

deny contains "never" if {
	x := [concat("", [input.session_id, sprintf("%d", [i]), sprintf("%d", [j])]) | some i in numbers.range(1, 20000); some j in numbers.range(1, 20000)]
	count(x) == 0
}
`
	if err := os.WriteFile(filepath.Join(dir, "eats.rego"), []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	if status := run(t.Context(), p); status != 2 || !strings.Contains(stdout.String(), `"permissionDecision":"deny"`) {
		t.Errorf("status %d, stdout %q", status, stdout)
	}
}

// TestHookKilled sends the real programs a signal while they read: SIGTERM and
// what a terminal sends do not take the answer away, after SIGKILL there is no
// half of one.
func TestHookKilled(t *testing.T) {
	event, err := io.ReadAll(bash("git push --force origin main"))
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"gate", "hook"}, {"gate-hook"}} {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGKILL} {
			dir := t.TempDir()
			cmd := exec.Command(command[0], append(command[1:], "--agent", "claude", "--event", "PreToolUse", "--managed-dir", dir+"/m", "--user-dir", dir+"/u", "--state-dir", dir+"/s")...)
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			// No pipe holds so much: when it is written, gate is reading.
			if _, err := io.WriteString(stdin, strings.Repeat(" ", 1<<20)); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Skip(err)
			}
			stdin.Write(event) // nobody reads it any more where the signal was the end
			stdin.Close()
			err = cmd.Wait()
			switch {
			case err == nil:
				t.Errorf("%s, %v: exit status 0", command, sig)
			case sig == syscall.SIGKILL && stdout.Len() > 0:
				t.Errorf("%s, %v: stdout %q", command, sig, &stdout)
			case sig != syscall.SIGKILL && (cmd.ProcessState.ExitCode() != 2 || !strings.Contains(stdout.String(), `"permissionDecision":"deny"`)):
				t.Errorf("%s, %v: %v, stdout %q, stderr %q", command, sig, err, &stdout, &stderr)
			}
		}
	}
}

// TestHookPipeClosed gives the real programs a standard output that nobody
// reads: they must not die of the signal.
func TestHookPipeClosed(t *testing.T) {
	for _, command := range [][]string{{"gate", "hook"}, {aloneProgram(t, "gate-hook")}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		dir := t.TempDir()
		cmd := exec.Command(command[0], append(command[1:], "--agent", "claude", "--managed-dir", dir+"/m", "--user-dir", dir+"/u", "--state-dir", dir+"/s")...)
		cmd.Stdin, cmd.Stdout = bash("git push --force origin main"), w
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		err = cmd.Run()
		w.Close()
		if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(stderr.String(), "overwrites the history") {
			t.Errorf("%s: %v, stderr %q", command[0], err, &stderr)
		}
	}
}

// TestHookTogether answers many calls at once, from the first start on: all
// the same, and each with its record.
func TestHookTogether(t *testing.T) {
	p, _, _ := hookProcess(t, nil, "--agent", "claude", "--event", "PreToolUse")
	const calls = 16
	var wg sync.WaitGroup
	for range calls {
		wg.Go(func() {
			var stdout, stderr bytes.Buffer
			p := p
			p.stdin, p.stdout, p.stderr = bash("git push --force origin main"), &stdout, &stderr
			if status := run(t.Context(), p); status != 2 || !strings.Contains(stderr.String(), "overwrites the history of main") {
				t.Errorf("status %d, stderr %q", status, &stderr)
			}
		})
	}
	wg.Wait()
	log, err := os.ReadFile(filepath.Join(p.args[6], audit.FileName))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(log, []byte(`"result":"reject"`)); n != calls {
		t.Errorf("%d records, want %d", n, calls)
	}
}
