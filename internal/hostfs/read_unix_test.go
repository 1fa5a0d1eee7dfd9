//go:build unix

package hostfs_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gate/internal/hostfs"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path(name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("good", "text", 0o600)
	write("large", "more text", 0o600)
	write("open", "text", 0o600)
	if err := os.Chmod(path("open"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("good", path("link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, want := range map[string]string{
		"good": "", "large": "larger than 4 bytes", "open": "group or others", "link": "symbolic link", "fifo": "not a regular file",
		".": "not a regular file", "none": "no such file",
	} {
		data, err := hostfs.ReadFile(root, name, 4)
		if want == "" && (err != nil || string(data) != "text") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

// TestReadReplaced holds that whoever reads while others replace the file as a
// whole gets one of the texts.
func TestReadReplaced(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	replace := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "new"), []byte(text), 0o600); err != nil {
			t.Error(err)
		}
		if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "file")); err != nil {
			t.Error(err)
		}
	}
	replace("a")
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 500 {
			replace("b")
			replace("a")
		}
	})
	for range 1000 {
		if data, err := hostfs.ReadFile(root, "file", 1); err != nil || string(data) != "a" && string(data) != "b" {
			t.Fatalf("%q, %v", data, err)
		}
	}
	wg.Wait()
}
