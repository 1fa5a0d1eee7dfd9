//go:build linux

package handlers

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"gate/hook"
)

// TestPatience holds how long is waited for what says nothing itself.
func TestPatience(t *testing.T) {
	want := map[hook.Kind]time.Duration{
		hook.Command: time.Minute, hook.Webhook: 30 * time.Second, hook.MCPTool: 30 * time.Second, hook.Prompt: 30 * time.Second, hook.Agent: time.Minute,
	}
	if !maps.Equal(timeouts, want) || asyncLimit != 15*time.Second || ScriptLimit != 5*time.Second {
		t.Errorf("hooks %v, asynchronous ones %v, scripts %v", timeouts, asyncLimit, ScriptLimit)
	}
}

// TestOutput has what a script writes come back only if it succeeded, whatever
// it does otherwise, within its own limit or the
// caller's, and nothing of it is left.
func TestOutput(t *testing.T) {
	dir := t.TempDir()
	for n, row := range []struct {
		name, command, want, err string
	}{
		{"a line", `echo a`, "a\n", ""},
		{"its input", `cat`, "{\"cwd\": \"/\"}\n", ""},
		{"where it runs", `pwd`, dir + "\n", ""},
		{"nothing", `true`, "", ""},
		{"no late answer", `echo '{"async": true}'; echo b`, "{\"async\": true}\nb\n", ""},
		{"a status", `echo a; exit 1`, "", "status 1"},
		{"the blocking status", `echo a; exit 2`, "", "status 2"},
		{"a signal", `kill -9 $$`, "", "signal"},
		{"too much", `yes`, "", "more than"},
		{"no end", `echo a; sleep 1000`, "", "in time"},
		{"no end of a child that goes away", `setsid sleep 1000 & echo a; wait`, "", "in time"},
		{"a child that holds the pipe", `sleep 1000 & echo a`, "a\n", ""},
		{"no end, and nobody who would not wait", `echo a; sleep 1000`, "", "in time"},
		{"TERM ignored", `trap '' TERM; while :; do sleep 1; done`, "", "in time"},
	} {
		for i, below := range []string{"supervisor", "direct"} {
			n := 100 + 2*n + i
			t.Run(row.name+" "+below, func(t *testing.T) {
				t.Parallel()
				o := Options{Getenv: os.LookupEnv}
				if below == "supervisor" {
					o.Supervisor = []string{os.Args[0], "supervise"}
				}
				ctx, cancel := context.WithCancel(t.Context())
				if row.err == "in time" && !strings.Contains(row.name, "nobody") { // else its own limit counts
					ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
				}
				defer cancel()
				mark := fmt.Sprintf("%d%d", n, os.Getpid()) // for how long it sleeps
				command := strings.ReplaceAll(row.command, "sleep 1000", "sleep "+mark)
				by := &hook.Hook{ID: "statusLine", Kind: hook.Command, Config: map[string]any{"command": command}}
				begun := time.Now()
				out, err := New(o).Output(ctx, by, dir, []byte("{\"cwd\": \"/\"}\n"))
				if took := time.Since(begun); strings.Contains(row.name, "nobody") && took < 5*time.Second {
					t.Errorf("ended after %v, and five seconds are its own", took)
				}
				if string(out) != row.want || (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
					t.Errorf("%q, %v", out, err)
				}
				if strings.Contains(row.command, "sleep 1000") {
					nobody(t, below, "sleep\x00"+mark)
				}
			})
		}
	}
}
