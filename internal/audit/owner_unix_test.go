//go:build unix

package audit

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestRefuses appends to logs that somebody prepared. Each is
// refused at once, and nothing is written.
func TestRefuses(t *testing.T) {
	for _, test := range []struct {
		name    string
		prepare func(dir, log string) error
		want    string
	}{
		{"link", func(dir, log string) error { return os.Symlink(filepath.Join(dir, "target"), log) }, "symbolic link"},
		{"FIFO", func(_, log string) error { return syscall.Mkfifo(log, 0o600) }, ""},
		{"directory", func(_, log string) error { return os.Mkdir(log, 0o700) }, "directory"},
		{"hard link", func(dir, log string) error {
			target := filepath.Join(dir, "target")
			if err := os.WriteFile(target, nil, 0o600); err != nil {
				return err
			}
			return os.Link(target, log)
		}, "second name"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := test.prepare(dir, filepath.Join(dir, FileName)); err != nil {
				t.Fatal(err)
			}
			err := tryAppend(t, dir)
			if err == nil {
				t.Fatal("appended")
			}
			if !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("%v, want the path and %q", err, test.want)
			}
			if data, err := os.ReadFile(filepath.Join(dir, "target")); err == nil && len(data) > 0 {
				t.Errorf("written to the target: %q", data)
			}
		})
	}
}

func TestRefusesDirectory(t *testing.T) {
	base := t.TempDir()
	link := filepath.Join(base, "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{link, file, filepath.Join(file, "below")} {
		if tryAppend(t, dir) == nil {
			t.Errorf("%s: appended", dir)
		}
	}
}

// TestPrivate closes what others could read.
func TestPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, FileName)
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	add(t, dir, Options{}, record("one"))
	for name, want := range map[string]os.FileMode{dir: 0o700, path: 0o600} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %#o, want %#o", name, info.Mode().Perm(), want)
		}
	}
}

// TestDiskFull writes where nothing fits.
func TestDiskFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	l := &log{file: full, path: "/dev/full"}
	if err := l.write(record("one").JSON()); err == nil {
		t.Error("no error")
	}
}

// TestHistoryFIFO never waits for what poses as a log.
func TestHistoryFIFO(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, FileName), 0o600); err != nil {
		t.Skip(err)
	}
	h, err := OpenHistory(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Last(); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}
