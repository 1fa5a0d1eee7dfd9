//go:build unix

package consent_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gate/internal/consent"
)

// TestTampering makes every attempt on the files. None may grant anything, and
// each names the file.
func TestTampering(t *testing.T) {
	root := os.Getuid() == 0
	rewrite := func(path string, f func(string) string) {
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(f(string(data))), 0o600)
		}
		if err != nil {
			panic(err)
		}
	}
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	for _, row := range []struct {
		name string
		do   func(k *desk, file string)
		want string
	}{
		{"writable by the group", func(k *desk, f string) { check(os.Chmod(f, 0o620)) }, "mode 0620"},
		{"writable by all", func(k *desk, f string) { check(os.Chmod(f, 0o666)) }, "mode 0666"},
		{"readable by others", func(k *desk, f string) { check(os.Chmod(f, 0o604)) }, "mode 0604"},
		{"open directory", func(k *desk, f string) { check(os.Chmod(filepath.Dir(f), 0o777)) }, "mode 0777"},
		{"open store", func(k *desk, f string) { check(os.Chmod(k.store.Dir, 0o770)) }, "mode 0770"},
		{"open state directory", func(k *desk, f string) { check(os.Chmod(filepath.Dir(k.store.Dir), 0o777)) }, "mode 0777"},
		{"somebody else's file", func(k *desk, f string) { check(os.Chown(f, 12345, -1)) }, "belongs to user 12345"},
		{"somebody else's directory", func(k *desk, f string) { check(os.Chown(filepath.Dir(f), 12345, -1)) }, "belongs to user 12345"},
		{"somebody else's store", func(k *desk, f string) { check(os.Chown(k.store.Dir, 12345, -1)) }, "belongs to user 12345"},
		{"somebody else's state directory", func(k *desk, f string) { check(os.Chown(filepath.Dir(k.store.Dir), 12345, -1)) }, "belongs to user 12345"},
		{"second name", func(k *desk, f string) { check(os.Link(f, filepath.Join(k.t.TempDir(), "x"))) }, "hard link"},
		{"symbolic link", func(k *desk, f string) {
			to := filepath.Join(k.t.TempDir(), "x")
			check(os.Rename(f, to))
			check(os.Symlink(to, f))
		}, "symbolic link"},
		{"symbolic link within the store", func(k *desk, f string) {
			check(os.Rename(f, filepath.Join(k.store.Dir, "x")))
			check(os.Symlink("../x", f))
		}, "symbolic link"},
		{"linked directory", func(k *desk, f string) {
			to := filepath.Join(k.t.TempDir(), "x")
			check(os.Rename(filepath.Dir(f), to))
			check(os.Symlink(to, filepath.Dir(f)))
		}, "symbolic link"},
		{"linked store", func(k *desk, f string) {
			to := filepath.Join(k.t.TempDir(), "x")
			check(os.Rename(k.store.Dir, to))
			check(os.Symlink(to, k.store.Dir))
		}, "symbolic link"},
		{"a FIFO", func(k *desk, f string) { check(os.Remove(f)); check(syscall.Mkfifo(f, 0o600)) }, "not a regular file"},
		{"a directory", func(k *desk, f string) { check(os.Remove(f)); check(os.Mkdir(f, 0o700)) }, "not a regular file"},
		{"a file as directory", func(k *desk, f string) {
			check(os.RemoveAll(filepath.Dir(f)))
			check(os.WriteFile(filepath.Dir(f), nil, 0o600))
		}, "not a directory"},
		{"empty", func(k *desk, f string) { check(os.Truncate(f, 0)) }, "cut short"},
		{"huge", func(k *desk, f string) { check(os.Truncate(f, 1<<30)) }, "larger than"},
		{"a letter changed", func(k *desk, f string) {
			rewrite(f, func(s string) string { return strings.Replace(s, "ada", "eve", 1) })
		}, "does not add up"},
		{"a line more", func(k *desk, f string) { rewrite(f, func(s string) string { return s + "\n" }) }, "does not add up"},
		{"another version", func(k *desk, f string) {
			rewrite(f, func(s string) string { return strings.Replace(s, "gate 1", "gate 2", 1) })
		}, "newer gate"},
		{"no header", func(k *desk, f string) {
			rewrite(f, func(s string) string { return s[strings.Index(s, "\n")+1:] })
		}, "not gate's"},
		{"another kind", func(k *desk, f string) {
			rewrite(f, func(s string) string {
				return strings.NewReplacer("gate 1 trust ", "gate 1 approval ", "gate 1 approval ", "gate 1 trust ").Replace(s)
			})
		}, "another kind"},
	} {
		if strings.HasPrefix(row.name, "somebody else") && !root {
			continue
		}
		t.Run("approval/"+row.name, func(t *testing.T) {
			k := newDesk(t)
			k.approve(push(noon))
			row.do(k, k.path("approved"))
			var refusal consent.Refusal
			if err := k.use(push(noon)); err == nil || errors.As(err, &refusal) || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			} else if !strings.Contains(err.Error(), filepath.Dir(k.store.Dir)) {
				t.Errorf("%v: names no path", err)
			}
		})
		t.Run("trust/"+row.name, func(t *testing.T) {
			k := newDesk(t)
			o := k.origin()
			k.must(k.store.Trust(k.witness(), o, digestA))
			row.do(k, k.path("trust"))
			var refusal consent.Refusal
			if err := k.store.CheckTrust(o, digestA); err == nil || errors.As(err, &refusal) || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}
