//go:build unix

package accounts

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gate/internal/audit"
)

// TestMain is the child, too: the one that gate has, and others that an account may have
// made of it.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "child" {
		os.Exit(m.Run())
	}
	if err := hostile(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// hostile does as a child what a word says.
func hostile(does string) error {
	line := append((&audit.Record{ID: "x", Time: time.Unix(0, 0), Place: &audit.Place{Log: "aa", Seq: 1}}).JSON(), '\n')
	switch does {
	case "sends":
		return Send(os.Stdout, os.Args[3:])
	case "hangs":
		time.Sleep(time.Hour)
	case "sends no records":
		fmt.Println(`{"path": "gate/log", "result": {"problem": "anew"}}`)
	case "sends one line for ever":
		for {
			os.Stdout.Write(bytes.Repeat([]byte("x"), 1<<16))
		}
	case "sends one record for ever":
		for {
			os.Stdout.Write(line)
		}
	case "forges the name of a chain":
		os.Stdout.Write(bytes.Replace(line, []byte(`"aa"`), []byte(`"../../x"`), 1))
	case "sends half a record":
		os.Stdout.Write(line[:len(line)/2])
	case "says things":
		return fmt.Errorf("\x1b[2J%s\n", strings.Repeat("no ", 1000))
	case "tells who it is":
		groups, err := os.Getgroups()
		return fmt.Errorf("%d %d %d %d %v %v %v", os.Getuid(), os.Geteuid(), os.Getgid(), os.Getegid(), groups, err, os.Environ())
	}
	return nil
}

// An account has a number that no other account of the machine has, and a log.
type account struct {
	Log
	home string
}

const someUID, someGID = 61234, 61235

func newAccount(t *testing.T) *account {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root starts processes of other accounts: run this test as root")
	}
	base := t.TempDir()
	a := &account{home: filepath.Join(base, "home")}
	a.Log = Log{
		Context: t.Context(), Account: "dev", UID: someUID, GID: someGID, Dir: filepath.Join(a.home, "gate"),
		Kept: filepath.Join(base, "kept"), Program: []string{"/proc/self/exe", "child", "sends"},
	}
	for _, dir := range []string{filepath.Dir(base), base} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(a.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	a.own(t)
	return a
}

// own gives all that is in the home to the account.
func (a *account) own(t *testing.T) {
	t.Helper()
	own(t, a.home, someUID, someGID)
}

// own gives a tree to an account.
func own(t *testing.T, dir string, uid, gid int) {
	t.Helper()
	err := filepath.Walk(dir, func(name string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(name, uid, gid)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// write writes records into a directory, of a user.
func write(t *testing.T, dir, user string, ids ...string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	own(t, dir, os.Getuid(), os.Getgid())
	for _, id := range ids {
		if err := audit.Append(dir, audit.Options{}, audit.Record{ID: id, Time: time.Now(), User: user}); err != nil {
			t.Fatal(err)
		}
	}
}

// ship takes over what there is, as a shipper does, and tells it in short.
func (a *account) ship(t *testing.T) string {
	t.Helper()
	c, err := a.Cursor("")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for item, err := range a.Unsent(c, audit.Origin{Now: time.Now()}) {
		if err != nil {
			out = append(out, "error: "+err.Error())
			break
		}
		if err := a.Advance("", item.After); err != nil {
			t.Fatal(err)
		}
		r, err := audit.Parse(item.Text)
		switch {
		case item.Gap:
			out = append(out, "gap")
		case item.Finding:
			_, problem, _ := strings.Cut(string(item.Text), `"problem":"`)
			problem, _, _ = strings.Cut(problem, `"`)
			out = append(out, "finding "+problem)
		case err != nil:
			t.Errorf("%s: %v", item.Text, err)
		default:
			out = append(out, r.ID)
		}
		if (item.Gap || item.Finding) && !bytes.Contains(item.Text, []byte(`"requested_by":"dev"`)) {
			t.Errorf("%s: it does not say whose it is", item.Text)
		}
	}
	return strings.ReplaceAll(strings.Join(out, ", "), a.Dir, "DIR")
}

// TestLog takes over the records of an account, and no record twice.
func TestLog(t *testing.T) {
	a := newAccount(t)
	if got := a.ship(t); got != "" {
		t.Error(got)
	}
	write(t, a.Dir, "dev", "one", "two")
	a.own(t)
	if got := a.ship(t); got != "one, two" {
		t.Error(got)
	}
	if got := a.ship(t); got != "" {
		t.Error(got)
	}
	write(t, a.Dir, "dev", "three")
	write(t, a.Dir, "root", "four")
	write(t, a.Dir, "dev", "five")
	a.own(t)
	if got := a.ship(t); got != "three, gap, five" {
		t.Errorf("a record in the name of another account: %s", got)
	}
	if err := os.RemoveAll(a.Dir); err != nil {
		t.Fatal(err)
	}
	if got := a.ship(t); got != "finding gone" {
		t.Error(got)
	}
	if got := a.ship(t); got != "" {
		t.Error(got)
	}
	write(t, a.Dir, "dev", "anew")
	a.own(t)
	if got := a.ship(t); got != "finding anew, anew" {
		t.Error(got)
	}
	if info, err := os.Lstat(a.Kept); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestTraps lays into the directory of a log what would have root read, open or wait
// for what the account may not.
func TestTraps(t *testing.T) {
	for _, c := range []struct {
		name, want string
		lay        func(t *testing.T, dir, secret string) error
	}{
		{"a link in the place of the file", "symbolic links", func(_ *testing.T, dir, secret string) error {
			return os.Symlink(filepath.Join(secret, audit.FileName), filepath.Join(dir, audit.FileName))
		}},
		{"a link in the place of the directory", "permission denied", func(_ *testing.T, dir, secret string) error {
			if err := os.Remove(dir); err != nil {
				return err
			}
			return os.Symlink(secret, dir)
		}},
		{"a hard link", "permission denied", func(_ *testing.T, dir, secret string) error {
			return os.Link(filepath.Join(secret, audit.FileName), filepath.Join(dir, audit.FileName))
		}},
		{"a FIFO", "not a regular file", func(_ *testing.T, dir, _ string) error {
			return syscall.Mkfifo(filepath.Join(dir, audit.FileName), 0o600)
		}},
		{"an older file that is a FIFO", "not a regular file", func(t *testing.T, dir, _ string) error {
			return syscall.Mkfifo(filepath.Join(dir, audit.FileName+".1"), 0o600)
		}},
		{"a directory", "not a regular file", func(_ *testing.T, dir, _ string) error {
			return os.Mkdir(filepath.Join(dir, audit.FileName), 0o700)
		}},
		{"10 GB of nothing", "10000000000 bytes", func(_ *testing.T, dir, _ string) error {
			name := filepath.Join(dir, audit.FileName)
			if err := os.WriteFile(name, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(name, 10_000_000_000)
		}},
		{"a device", "not a regular file", func(_ *testing.T, dir, _ string) error {
			return syscall.Mknod(filepath.Join(dir, audit.FileName), syscall.S_IFCHR|0o666, 1<<8|5) // /dev/zero
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newAccount(t)
			secret := filepath.Join(filepath.Dir(a.home), "secret")
			write(t, secret, "dev", "secret")
			err := c.lay(t, a.Dir, secret)
			if err != nil {
				t.Skip(err)
			}
			if !strings.Contains(c.name, "hard link") { // which is a file of another account's
				a.own(t)
			}
			since := time.Now()
			got := a.ship(t)
			if took := time.Since(since); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
			if !strings.HasPrefix(got, "finding unread, error: the log of dev: ") || !strings.Contains(got, c.want) {
				t.Errorf("%s, want %q", got, c.want)
			}
		})
	}
}

// TestHostile has the account do with the child what it likes.
func TestHostile(t *testing.T) {
	for _, c := range []struct{ does, want string }{
		{"hangs", "finding unread, error: the log of dev: nothing came for 200ms"},
		{"sends no records", "finding unread, error: the log of dev: what came is no record"},
		{"sends one line for ever", "finding unread, error: the log of dev: it has more than is read at a time"},
		{"sends one record for ever", "x"},
		{"forges the name of a chain", "finding unread, error: the log of dev: what came is no record"},
		{"sends half a record", "finding unread, error: the log of dev: what came is no record"},
		{"says things", "finding unread, error: the log of dev: [2J" + strings.Repeat("no ", 98) + "no"},
		{"tells who it is", fmt.Sprintf("finding unread, error: the log of dev: %d %[1]d %d %[2]d [] <nil> []", someUID, someGID)},
	} {
		t.Run(c.does, func(t *testing.T) {
			a := newAccount(t)
			a.Program[2], a.Idle, a.Most = c.does, 200*time.Millisecond, 4<<20
			if got := a.ship(t); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestSlow reads no longer than it is told to, and goes on the next time.
func TestSlow(t *testing.T) {
	a := newAccount(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	a.Context, a.Program[2] = ctx, "hangs"
	if got := a.ship(t); got != "finding unread, error: the log of dev: context deadline exceeded" {
		t.Error(got)
	}
	a.Context, a.Program[2], a.Most = t.Context(), "sends", 1500
	for n := range 6 {
		write(t, a.Dir, "dev", fmt.Sprint(n))
	}
	a.own(t)
	var all []string
	for range 6 {
		if got := a.ship(t); got != "" {
			all = append(all, got)
		}
	}
	if got := strings.Join(all, ", "); got != "0, 1, 2, 3, 4, 5" || len(all) < 2 {
		t.Errorf("%q", all)
	}
}

// TestSendRefuses: as root the child would open an account's paths with root's rights.
func TestSendRefuses(t *testing.T) {
	for _, args := range [][]string{nil, {"/x", "aa"}, {"/x", "aa", "one"}} {
		if err := Send(&bytes.Buffer{}, args); err == nil {
			t.Errorf("%q", args)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("the rest is about root: run this test as root")
	}
	dir := t.TempDir()
	write(t, dir, "dev", "one")
	var out bytes.Buffer
	if err := Send(&out, []string{dir, "", "0"}); err == nil || out.Len() > 0 {
		t.Errorf("%v, %s", err, out.String())
	}
	a := newAccount(t)
	a.UID = 0
	if got := a.ship(t); got != "finding unread, error: the log of dev: no process of the account can be started: root's own log is not read so" {
		t.Error(got)
	}
}
