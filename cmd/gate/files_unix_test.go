//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestProjectFIFO has a FIFO among the policies of the project: the call is
// answered at once, and the project's policies are left out.
func TestProjectFIFO(t *testing.T) {
	p, stdout, _ := hookProcess(t, bash("ls"), "--agent", "claude", "--event", "PreToolUse")
	project := t.TempDir()
	if err := os.MkdirAll(filepath.Join(project, ".gate", "policies"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(project, ".gate", "policies", "x.rego"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "CLAUDE_PROJECT_DIR="+project)
	if status := run(t.Context(), p); status != 0 || !strings.Contains(stdout.String(), "not a regular file") {
		t.Errorf("status %d, stdout %q", status, stdout)
	}
}
