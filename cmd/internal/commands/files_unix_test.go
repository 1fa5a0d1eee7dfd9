//go:build unix

package commands

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestProjectFIFO has a FIFO where a project's policies are looked for: the call
// is answered at once, and what the project says is left out.
func TestProjectFIFO(t *testing.T) {
	for _, at := range []struct{ fifo, says string }{
		{".gate/policies/x.rego", "not a regular file"}, {".gate/policies", "not a directory"}, {".gate", "not a directory"},
	} {
		p, stdout, _ := hookProcess(t, bash("ls"), "--agent", "claude", "--event", "PreToolUse")
		fifo := filepath.Join(t.TempDir(), filepath.FromSlash(at.fifo))
		if err := os.MkdirAll(filepath.Dir(fifo), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		p.env = append(p.env, "CLAUDE_PROJECT_DIR="+strings.TrimSuffix(fifo, filepath.FromSlash(at.fifo)))
		if status := run(t.Context(), p); status != 0 || !strings.Contains(stdout.String(), at.says) {
			t.Errorf("%s: status %d, stdout %q, want %q in it", at.fifo, status, stdout, at.says)
		}
	}
}
