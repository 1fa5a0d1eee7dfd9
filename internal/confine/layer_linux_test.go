package confine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFreeStage holds that a directory for changes is kept for the next run where a program
// left nothing in it or at it, and only there.
func TestFreeStage(t *testing.T) {
	requireFull(t)
	s := newCommits(t)
	store := s.command(t, "project", "true").Store
	fresh := ""
	for _, c := range []struct {
		line string
		free bool
	}{
		{"git log -1 --format=%s >/dev/null", true},
		{"git --no-optional-locks status --porcelain >/dev/null", true},
		{"! touch .git/hooks/x 2>/dev/null", true},
		{"chmod 700 .git", false},
		{"git log -1 >/dev/null", true},
		{"git commit -q --allow-empty -m x", false},
		{"git log -1 >/dev/null", true},
		{"echo x >.git/own", false},
		{"mkdir -p .git/own/y && chmod 0 .git/own", false},
	} {
		look, _ := inside(t, s, "stat -c '%a %u' .git; ls -A .git | sort; cat .git/config")
		if fresh == "" {
			fresh = look
		}
		if look != fresh && !strings.Contains(c.line, "own") { // a commit leaves COMMIT_EDITMSG for good
			fresh = strings.Replace(fresh, "HEAD\n", "COMMIT_EDITMSG\nHEAD\n", 1)
			if look != fresh {
				t.Errorf("before %s a program saw\n%s\nand first\n%s", c.line, look, fresh)
			}
		}
		if _, out := inside(t, s, c.line); out.Status != 0 {
			t.Errorf("%s: status %d", c.line, out.Status)
		}
		if free := exists(store + "/" + freeStage); free != c.free {
			t.Errorf("%s: kept for the next run: %v", c.line, free)
		}
		if left, _ := filepath.Glob(store + "/" + stageName + "*"); len(left) > 0 {
			t.Errorf("%s: %v is left", c.line, left)
		}
	}
}

// TestTouched holds what counts as left: files, modes and attributes.
func TestTouched(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(up string) error
		kept bool
	}{
		"nothing":        {func(string) error { return nil }, true},
		"the kernel's":   {func(up string) error { return unix.Setxattr(up, "user.overlay.uuid", []byte("x"), 0) }, true},
		"a file":         {func(up string) error { return os.WriteFile(up+"/x", nil, 0o600) }, false},
		"a mode":         {func(up string) error { return os.Chmod(up, 0o700) }, false},
		"a sticky mode":  {func(up string) error { return unix.Chmod(up, 0o1755) }, false},
		"an attribute":   {func(up string) error { return unix.Setxattr(up, "user.x", []byte("x"), 0) }, false},
		"opaque":         {func(up string) error { return unix.Setxattr(up, "user.overlay.opaque", []byte("y"), 0) }, false},
		"a link instead": {func(up string) error { return os.Rename(up, up+"2") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			up := t.TempDir() + "/up"
			if err := os.Mkdir(up, 0o755); err != nil {
				t.Fatal(err)
			}
			before, ok := touched(up)
			if !ok {
				t.Fatal("a new directory is touched")
			}
			if err := c.do(up); err == unix.ENOTSUP {
				t.Skip("this file system has no such attributes")
			} else if err != nil {
				t.Fatal(err)
			}
			if is, ok := touched(up); (ok && is == before) != c.kept {
				t.Errorf("kept: %v, %+v", ok, is)
			}
		})
	}
}
