package commands

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/core"
	"gate/scopes"
)

// TestLogFollow waits for decisions, and ends when it is interrupted.
func TestLogFollow(t *testing.T) {
	dir := t.TempDir()
	write := func(id string) {
		t.Helper()
		r := audit.Record{ID: id, Time: time.Now(), Tool: "Bash", Call: "make " + id, Effect: hook.Ask, Reasons: []audit.Reason{{ID: "x.y", Effect: hook.Ask}}}
		if err := core.Append(dirs{State: dir}, scopes.Settings{}, r); err != nil {
			t.Fatal(err)
		}
	}
	write("before")
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan int)
	go func() {
		status := run(ctx, process{
			args: []string{"log", "-f", "--effect", "ask", "--state-dir", dir, "--user-dir", dir}, stdout: in, stderr: io.Discard, stdin: strings.NewReader(""),
		})
		in.Close()
		ended <- status
	}()
	lines := bufio.NewScanner(out)
	for i, id := range []string{"before", "first", "second"} {
		if i > 0 {
			write(id)
		}
		if !lines.Scan() || !strings.Contains(lines.Text(), "make "+id) || !strings.HasSuffix(lines.Text(), "x.y") {
			t.Fatalf("after %s: %q", id, lines.Text())
		}
	}
	cancel()
	if status := <-ended; status != exitOK {
		t.Errorf("status %d", status)
	}
}

// TestVerifyEnds verifies what has no end, and ends when it is told to.
func TestVerifyEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var said strings.Builder
	in := io.MultiReader(strings.NewReader("{}\n"), readFunc(func([]byte) (int, error) { cancel(); return 0, nil }), repeat("0"))
	if status := run(ctx, process{args: []string{"log", "verify", "-"}, stdin: in, stdout: io.Discard, stderr: &said}); status != exitFailed {
		t.Errorf("status %d", status)
	}
	if want := "gate: standard input: interrupted\n"; said.String() != want {
		t.Errorf("said %q, want %q", said.String(), want)
	}
}

// A readFunc reads.
type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
