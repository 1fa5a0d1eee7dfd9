package session

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestJournalKilled holds that a process which is killed at any step leaves what was
// there, or all of what was to come, and nobody waits for its lock.
func TestJournalKilled(t *testing.T) {
	killed := errors.New("killed")
	for _, step := range []string{"write", "rename"} {
		j := Journal{Dir: filepath.Join(t.TempDir(), "j"), Name: "name", Most: 100}
		j.at = func(s string) error {
			if s == step {
				return killed
			}
			return nil
		}
		first := func() ([]byte, error) { return []byte("head\n"), nil }
		if err := j.Add(context.Background(), first, []byte("a\n")); !errors.Is(err, killed) {
			t.Fatalf("%s: %v", step, err)
		}
		if text, err := j.Read(); text != nil || err != nil {
			t.Errorf("%s: %q, %v", step, text, err)
		}
		j.at = nil
		for _, record := range []string{"a\n", "b\n"} {
			if err := j.Add(context.Background(), first, []byte(record)); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := j.Read(); string(text) != "head\na\nb\n" || err != nil {
			t.Errorf("%s: %q, %v", step, text, err)
		}
	}
}

func TestJournalFull(t *testing.T) {
	j := Journal{Dir: filepath.Join(t.TempDir(), "j"), Name: "name", Most: 10}
	first := func() ([]byte, error) { return []byte("head\n"), nil }
	if err := j.Add(context.Background(), first, []byte("aaaa\n")); err != nil {
		t.Fatal(err)
	}
	if err := j.Add(context.Background(), first, []byte("b")); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
	if text, err := j.Read(); string(text) != "head\naaaa\n" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// TestJournalOnce holds that a file is made once, and whole.
func TestJournalOnce(t *testing.T) {
	j := Journal{Dir: filepath.Join(t.TempDir(), "j"), Name: "key", Most: 10}
	for i := range 3 {
		text, err := j.Once(context.Background(), func() ([]byte, error) { return bytes.Repeat([]byte{byte('a' + i)}, 4), nil })
		if string(text) != "aaaa" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
	}
	info, err := os.Lstat(filepath.Join(j.Dir, j.Name))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
