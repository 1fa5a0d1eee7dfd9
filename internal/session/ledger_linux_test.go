package session

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"gate/hook"
)

// TestLedgerCannotGrow leaves a ledger whole that a full disk lets take in half a line.
func TestLedgerCannotGrow(t *testing.T) {
	l, project := ledger(t)
	note, key := touch(t, filepath.Join(project, "note.txt")), touch(t, filepath.Join(project, "key.txt"))
	if err := l.Add(t.Context(), []hook.Move{{Path: note, What: "environment file"}}, time.Now()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(l.path())
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(info.Size()) + 10, Max: limit.Max}); err != nil {
		t.Skip(err)
	}
	err = l.Add(t.Context(), []hook.Move{{Path: key, What: "private key"}}, time.Now())
	if reset := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); reset != nil {
		t.Fatal(reset)
	}
	if err == nil {
		t.Fatal("it grew")
	}
	if what, err := l.Open().Of(note); what != "environment file" || err != nil {
		t.Errorf("afterwards: %q %v", what, err)
	}
}
