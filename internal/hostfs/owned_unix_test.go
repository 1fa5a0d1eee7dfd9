//go:build unix

package hostfs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gate/internal/hostfs"
)

func TestPrivate(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(file string) error
		want   string // "": it is private
	}{
		{"as made", func(string) error { return nil }, ""},
		{"read only", func(f string) error { return os.Chmod(f, 0o400) }, ""},
		{"others read", func(f string) error { return os.Chmod(f, 0o604) }, "mode 0604"},
		{"group writes", func(f string) error { return os.Chmod(f, 0o620) }, "mode 0620"},
		{"hard link", func(f string) error { return os.Link(f, f+"-2") }, "second name"},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := test.change(file); err != nil {
				t.Fatal(err)
			}
			info, err := os.Lstat(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := hostfs.Private(info); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func TestSteady(t *testing.T) {
	for mode, steady := range map[os.FileMode]bool{
		0o700: true, 0o755: true, 0o777 | os.ModeSticky: true, 0o777: false, 0o720: false, 0o702: false,
	} {
		dir := t.TempDir()
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := hostfs.Steady(info); (err == nil) != steady {
			t.Errorf("%v: %v", mode, err)
		}
	}
}

// What nobody knows the owner of is nobody's.
func TestUnknownOwner(t *testing.T) {
	info, err := os.DirFS(t.TempDir()).(interface {
		Stat(string) (os.FileInfo, error)
	}).Stat(".")
	if err != nil {
		t.Fatal(err)
	}
	strange := nameless{info}
	if hostfs.Own(strange) == nil || hostfs.Private(strange) == nil || hostfs.Steady(strange) == nil {
		t.Error("taken for the account's own")
	}
}

type nameless struct{ os.FileInfo }

func (nameless) Sys() any { return nil }
