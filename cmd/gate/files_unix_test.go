//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gate/owned"
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
	files.owner = &owner{Ownership: owned.Users(-1)}
	files.owner.UIDs = files.owner.UIDs[:1]
	if _, err := fs.ReadFile(files, "a.rego"); err == nil || !strings.Contains(err.Error(), "it belongs to account") {
		t.Errorf("somebody else's file: %v", err)
	}
}

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
