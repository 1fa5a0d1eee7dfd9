//go:build unix

package places

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gate/internal/hostfs"
)

// TestOwnedFS opens what a repository could put into its policies: nothing
// outside, and nothing to wait for.
func TestOwnedFS(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, "policies", name) }
	if err := os.MkdirAll(at("sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.WriteFile(at("a.rego"), []byte("package a"), 0o600), syscall.Mkfifo(at("fifo.rego"), 0o600),
		os.WriteFile(filepath.Join(dir, "secret"), []byte("x"), 0o600), os.Symlink("../secret", at("out.rego")),
		os.Symlink("/etc/passwd", at("abs.rego")), os.Symlink("a.rego", at("in.rego")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(filepath.Join(dir, "policies"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	files := ownedFS{root: root}
	for name, ok := range map[string]bool{
		"a.rego": true, "in.rego": true, "fifo.rego": false, "out.rego": false, "abs.rego": false,
		"../secret": false, "/etc/passwd": false, "sub": false, "none": false,
	} {
		if _, err := fs.ReadFile(files, name); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	files.owner = &Owner{rules: hostfs.Users(-1)}
	files.owner.rules.UIDs = files.owner.rules.UIDs[:1]
	if _, err := fs.ReadFile(files, "a.rego"); err == nil || !strings.Contains(err.Error(), "it belongs to account") {
		t.Errorf("somebody else's file: %v", err)
	}
}
