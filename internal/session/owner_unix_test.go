//go:build unix

package session

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What others could have put there, or can change, is refused and not
// repaired.
func TestRefuses(t *testing.T) {
	for name, spoil := range map[string]func(Store) error{
		"mode":      func(s Store) error { return os.Chmod(s.path(key), 0o644) },
		"directory": func(s Store) error { return os.Chmod(s.Dir, 0o770) },
		"above":     func(s Store) error { return os.Chmod(filepath.Dir(s.Dir), 0o777) },
		"hard link": func(s Store) error { return os.Link(s.path(key), s.path(key)+"-2") },
		"link": func(s Store) error {
			if err := os.Rename(s.path(key), s.path(key)+"-2"); err != nil {
				return err
			}
			return os.Symlink(s.path(key)+"-2", s.path(key))
		},
		"FIFO": func(s Store) error {
			if err := os.Remove(s.path(key)); err != nil {
				return err
			}
			return syscall.Mkfifo(s.path(key), 0o600)
		},
		"FIFO above": func(s Store) error {
			if err := os.RemoveAll(s.Dir); err != nil {
				return err
			}
			return syscall.Mkfifo(s.Dir, 0o700)
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			s := store(t)
			if err := s.Update(t.Context(), key, count); err != nil {
				t.Fatal(err)
			}
			if err := spoil(s); err != nil {
				t.Fatal(err)
			}
			if err := s.Update(t.Context(), key, count); err == nil || !strings.Contains(err.Error(), s.Dir[:len(s.Dir)-len("/sessions")]) {
				t.Errorf("it was not refused with its path: %v", err)
			}
			if _, err := s.Read(key); err == nil && strings.HasPrefix(name, "FIFO") {
				t.Error("it was read all the same")
			}
		})
	}
}
