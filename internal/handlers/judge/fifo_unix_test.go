//go:build unix

package judge_test

import (
	"syscall"
	"testing"
)

// fifo makes what would be waited for by whoever opens it.
func fifo(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}
