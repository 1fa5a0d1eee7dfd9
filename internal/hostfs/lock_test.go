package hostfs_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gate/internal/hostfs"
)

// TestLock holds that one has the lock at a time, that who has no time left
// goes without it, and that a wait which was given up keeps nobody out.
func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	if _, err := hostfs.Lock(t.Context(), name, 0); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a file that is not there: %v", err)
	}
	first, err := hostfs.Lock(t.Context(), name, os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := hostfs.Lock(ended, name, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("locked twice, or: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := hostfs.Lock(t.Context(), name, 0)
	if err != nil {
		t.Fatal(err)
	}
	second.Close()
}

// TestLockWaits holds that who waits gets the lock once it is let go of, and not
// before.
func TestLockWaits(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	first, err := hostfs.Lock(t.Context(), name, os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	let := make(chan struct{})
	got := make(chan error)
	go func() {
		second, err := hostfs.Lock(t.Context(), name, 0)
		if err != nil {
			got <- err
			return
		}
		select {
		case <-let:
		default:
			err = errors.New("it was held by both")
		}
		got <- errors.Join(err, second.Close())
	}()
	close(let)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}
