//go:build linux || darwin

package hostfs_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gate/internal/hostfs"
)

// TestFiles reads what a line could name: all of it comes
// back at once, and only small regular files have content.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("file"), []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		syscall.Mkfifo(at("fifo"), 0o600), os.Symlink("file", at("link")), os.Symlink("fifo", at("to-fifo")),
		os.Symlink("loop", at("loop")), os.Mkdir(at("dir"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, ok := range map[string]bool{
		at("file"): true, at("link"): true, at("fifo"): false, at("to-fifo"): false, at("loop"): false, at("dir"): false,
		at("none"): false, "/dev/zero": false, "/dev/null": false, at("file") + "/x": false,
	} {
		data, err := hostfs.Files{}.ReadFile(name, 10)
		if (err == nil) != ok || ok && string(data) != "0123456789" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if _, err := (hostfs.Files{}).ReadFile(at("file"), 9); err == nil {
		t.Error("a file beyond the limit was read")
	}
}

// TestDir opens what a repository could put into a directory of policies.
func TestDir(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, "policies", name) }
	for _, err := range []error{
		os.Mkdir(at(""), 0o700), os.WriteFile(at("a"), []byte("a"), 0o600), syscall.Mkfifo(at("fifo"), 0o600),
		os.WriteFile(filepath.Join(dir, "secret"), []byte("x"), 0o600), os.Symlink("../secret", at("out")),
		os.Symlink("/etc/passwd", at("abs")), os.Symlink("a", at("in")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(at(""))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, ok := range map[string]bool{"a": true, "in": true, "fifo": false, "out": false, "abs": false, "../secret": false, "none": false} {
		data, err := fs.ReadFile(hostfs.Dir{Root: root}, name)
		if (err == nil) != ok || ok && string(data) != "a" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if to, err := (hostfs.Dir{Root: root}).ReadLink("in"); err != nil || to != "a" {
		t.Errorf("in leads to %q, %v", to, err)
	}
}

// TestSpellings compares paths with and without links in them, and some that
// lead nowhere, with what EvalSymlinks says of each alone.
func TestSpellings(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.MkdirAll(at("a/b/c"), 0o700), os.WriteFile(at("a/file"), nil, 0o600), os.Symlink("a", at("link")),
		os.Symlink("c", at("a/b/last")), os.Symlink("loop", at("loop")), os.Symlink("none", at("dangling")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var paths, want []string
	for _, name := range []string{
		"", "a", "a/b/c", "a/b", "link", "link/b", "link/b/last", "a/b/last", "a/none", "a/none/x", "a/file", "a/file/x", "loop", "loop/x",
		"dangling", "link/none", "a/b/c",
	} {
		path := at(name)
		paths, want = append(paths, path), append(want, path)
		if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
			want = append(want, real)
		}
	}
	if got := hostfs.Spellings(paths...); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got := hostfs.Spellings(dir + "/a/../link/[x]"); !slices.Equal(got, []string{dir + `/a/../link/\[x]`}) {
		t.Errorf("got %q", got)
	}
}

// TestOpenDir opens what stands where a directory is looked for: none of it is
// waited for.
func TestOpenDir(t *testing.T) {
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, name) }
	for _, err := range []error{
		os.Mkdir(at("dir"), 0o700), os.WriteFile(at("file"), nil, 0o600), syscall.Mkfifo(at("fifo"), 0o600),
		os.Symlink("dir", at("to-dir")), os.Symlink("fifo", at("to-fifo")), os.Symlink("none", at("to-none")), os.Symlink("/", at("out")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	outer, err := hostfs.OpenDir(base)
	if err != nil {
		t.Fatal(err)
	}
	defer outer.Close()
	for name, want := range map[string]error{
		"dir": nil, "to-dir": nil, "file": syscall.ENOTDIR, "fifo": syscall.ENOTDIR, "to-fifo": syscall.ENOTDIR,
		"none": fs.ErrNotExist, "to-none": fs.ErrNotExist,
	} {
		root, err := hostfs.OpenDir(at(name))
		inner, ierr := hostfs.OpenDirIn(outer, name)
		for _, r := range []*os.Root{root, inner} {
			if r != nil {
				r.Close()
			}
		}
		if !errors.Is(err, want) || !errors.Is(ierr, want) {
			t.Errorf("%s: %v and %v, want %v", name, err, ierr, want)
		}
	}
	if inner, err := hostfs.OpenDirIn(outer, "out"); err == nil {
		inner.Close()
		t.Error("a link out of the directory was followed")
	}
	for _, open := range []func() (*os.Root, error){
		func() (*os.Root, error) { return hostfs.OpenDir("") }, func() (*os.Root, error) { return hostfs.OpenDirIn(outer, "") },
	} {
		if root, err := open(); err == nil {
			root.Close()
			t.Error("a directory without a name was opened")
		}
	}
}

// TestHandle holds that what a handle says of a file is what package os says, and
// that it is of the file itself: no link is followed, and no FIFO waited for.
func TestHandle(t *testing.T) {
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, name) }
	for _, err := range []error{
		os.WriteFile(at("file"), []byte("0123456789"), 0o640), os.WriteFile(at("program"), nil, 0o755), os.Chmod(at("program"), 0o755|fs.ModeSetuid),
		os.Mkdir(at("dir"), 0o700), os.Mkdir(at("sticky"), 0o700), os.Chmod(at("sticky"), 0o777|fs.ModeSticky), syscall.Mkfifo(at("fifo"), 0o600),
		os.Symlink("file", at("link")), os.Symlink("dir", at("to-dir")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	dir, err := hostfs.OpenHandle(base)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	for name, opens := range map[string]bool{
		"file": true, "program": true, "dir": true, "sticky": true, "fifo": true, "link": false, "to-dir": false, "none": false, "": false,
	} {
		f, err := dir.OpenFile(name)
		if (err == nil) != opens {
			t.Errorf("%q: opened: %v", name, err)
		}
		if err != nil {
			continue
		}
		got, err := f.Stat("named")
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.Lstat(at(name))
		if err != nil {
			t.Fatal(err)
		}
		if mode := want.Mode(); mode&fs.ModeNamedPipe == 0 && got.Mode() != mode || got.Mode().IsRegular() != mode.IsRegular() || got.IsDir() != want.IsDir() ||
			got.Size() != want.Size() || !got.ModTime().Equal(want.ModTime()) || *got.Sys().(*syscall.Stat_t) != *want.Sys().(*syscall.Stat_t) || got.Name() != "named" {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for name, opens := range map[string]bool{"dir": true, "file": false, "fifo": false, "to-dir": false, "none": false} {
		d, err := hostfs.OpenHandle(at(name))
		if (err == nil) != opens {
			t.Errorf("%q: opened as a directory: %v", name, err)
		}
		if err == nil {
			d.Close()
		}
	}
	f, err := dir.OpenFile("file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	buf := make([]byte, 8)
	if err := f.Read(buf); err != nil || string(buf) != "01234567" {
		t.Errorf("%q, %v", buf, err)
	}
	if err := f.Read(buf); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("behind the end: %v", err)
	}
}

// TestHolds looks into directories with nothing, with the name that does not
// count, with more names than are read at once, and into what is none.
func TestHolds(t *testing.T) {
	dir := t.TempDir()
	check := func(want bool, after string) {
		t.Helper()
		d, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if hostfs.Holds(d, "own") != want {
			t.Errorf("%s: not %v", after, want)
		}
		if h, err := hostfs.OpenHandle(dir); err == nil {
			for range 2 {
				if h.Holds("own") != want {
					t.Errorf("%s, with a handle: not %v", after, want)
				}
			}
			h.Close()
		}
	}
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check(false, "nothing")
	write("own")
	check(false, "own")
	write("other")
	check(true, "other")
	for i := range 100 {
		write(strings.Repeat("x", 200) + strconv.Itoa(i))
	}
	check(true, "many")
	dir = filepath.Join(dir, "own")
	check(true, "a file")
}

// TestZeroHandle does nothing to standard input, which has the number zero.
func TestZeroHandle(t *testing.T) {
	var h hostfs.Handle
	if _, err := h.OpenFile("etc"); err == nil {
		t.Error("it opens files")
	}
	if _, err := h.Stat("x"); err == nil {
		t.Error("it is something")
	}
	if err := h.Read(make([]byte, 1)); err == nil {
		t.Error("it can be read")
	}
	h.Close()
	if _, err := os.Stdin.Stat(); err != nil {
		t.Error("standard input is closed:", err)
	}
}
