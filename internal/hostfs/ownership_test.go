package hostfs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"gate/internal/hostfs"
)

// An entry is a file as a check sees it.
type entry struct{ mode fs.FileMode }

func (e entry) Name() string       { return "x" }
func (e entry) Size() int64        { return 1 }
func (e entry) Mode() fs.FileMode  { return e.mode }
func (e entry) ModTime() time.Time { return time.Time{} }
func (e entry) IsDir() bool        { return e.mode.IsDir() }
func (e entry) Sys() any           { return nil }

func account(uid int) hostfs.Owner { return hostfs.Owner{UID: uid, GID: uid, Known: true} }

func TestOwnership(t *testing.T) {
	for name, row := range map[string]struct {
		rules hostfs.Ownership
		mode  fs.FileMode
		owner hostfs.Owner
		says  string // "" passes
	}{
		"root's":               {hostfs.Managed(-1), 0o644, account(0), ""},
		"root's directory":     {hostfs.Managed(-1), fs.ModeDir | 0o755, account(0), ""},
		"somebody's":           {hostfs.Managed(-1), 0o644, account(1000), "chown 0 '/etc/gate/it'\\''s'"},
		"named directory":      {hostfs.Managed(1000), 0o644, account(1000), ""},
		"named, another's":     {hostfs.Managed(1000), 0o644, account(1001), "belongs to account 1001"},
		"group may write":      {hostfs.Managed(-1), 0o664, account(0), "chmod g-w"},
		"everybody may write":  {hostfs.Managed(-1), 0o646, account(0), "chmod o-w"},
		"directory of all":     {hostfs.Managed(-1), fs.ModeDir | fs.ModeSticky | 0o777, account(0), "chmod o-w"},
		"a link":               {hostfs.Managed(-1), fs.ModeSymlink | 0o777, account(0), "symbolic link"},
		"a pipe":               {hostfs.Managed(-1), fs.ModeNamedPipe | 0o600, account(0), "not a regular file"},
		"a device":             {hostfs.Managed(-1), fs.ModeDevice | 0o600, account(0), "not a regular file"},
		"unknown owner":        {hostfs.Managed(-1), 0o600, hostfs.Owner{}, "owner is unknown"},
		"the user's":           {hostfs.Users(1000), 0o600, account(1000), ""},
		"the user's, by root":  {hostfs.Users(1000), 0o644, account(0), ""},
		"another user's":       {hostfs.Users(1000), 0o600, account(1001), "chown 1000"},
		"the user's, by group": {hostfs.Users(1000), 0o660, account(1000), "chmod g-w"},
		"admin group":          {hostfs.Ownership{Whose: "managed files", UIDs: []int{0}, Admins: []int{80}}, 0o664, hostfs.Owner{UID: 0, GID: 80, Known: true}, ""},
		"admin group, others":  {hostfs.Ownership{Whose: "managed files", UIDs: []int{0}, Admins: []int{80}}, 0o666, hostfs.Owner{UID: 0, GID: 80, Known: true}, "chmod o-w"},
		"no admin group":       {hostfs.Ownership{Whose: "managed files", UIDs: []int{0}, Admins: []int{80}}, 0o664, hostfs.Owner{UID: 0, GID: 20, Known: true}, "chmod g-w"},
	} {
		err := row.rules.Check("/etc/gate/it's", entry{row.mode}, row.owner)
		if row.says == "" && err != nil || row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says)) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "/etc/gate/it's: ") {
			t.Errorf("%s: %v names no file", name, err)
		}
	}
}

// Real directories, links and modes.
func TestParents(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("access lists stand for modes there")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mkdir := func(name string, mode fs.FileMode) string {
		dir := filepath.Join(top, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	mkdir("safe/gate", 0o755)
	mkdir("open/gate", 0o755)
	mkdir("open", 0o777)
	mkdir("sticky/gate", 0o755)
	mkdir("sticky", 0o777|fs.ModeSticky)
	for link, to := range map[string]string{"good": "safe", "bad": "open", "loop": "loop", "dangling": "nowhere"} {
		if err := os.Symlink(filepath.Join(top, to), filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	rules := hostfs.Managed(os.Geteuid())
	for name, says := range map[string]string{
		"safe/gate": "", "open/gate": "open: everybody may write it", "sticky/gate": "", "good/gate": "",
		"bad/gate": "open: everybody may write it", "loop/gate": "too many symbolic links", "dangling/gate": "no such file",
	} {
		err := rules.Parents(filepath.Join(top, name), os.Lstat, os.Readlink, hostfs.OwnerOf)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := rules.Parents("etc/gate", os.Lstat, os.Readlink, hostfs.OwnerOf); err == nil {
		t.Error("a relative path passes")
	}
	info, err := os.Lstat(top)
	if err != nil {
		t.Fatal(err)
	}
	if o := hostfs.OwnerOf(info); !o.Known || o.UID != os.Geteuid() {
		t.Errorf("owner %+v", o)
	}
}
