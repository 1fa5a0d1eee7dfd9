//go:build unix

package audit

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// limitedWriter appends until the file may not grow any more, as where the disk
// is full, and then says why it could not.
func limitedWriter(dir string) int {
	const most = 4000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for i := range 100 {
		if err := Append(dir, manyFiles, record(fmt.Sprintf("limited-%d", i))); err != nil {
			if Try(dir) == nil {
				fmt.Println(100, "Try sees room")
			}
			fmt.Println(i, err)
			return 0
		}
	}
	fmt.Println("100 the limit does not hold")
	return 0
}

// TestNoRoom fills the disk, as it were, in the middle of a record: nothing of
// that record stays, and the chain goes on once there is room.
func TestNoRoom(t *testing.T) {
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), writerEnv+"=limited", writerEnv+"_FOR=0 0 "+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var written int
	if _, err := fmt.Sscan(string(out), &written); err != nil || written == 0 || written == 100 || !strings.Contains(string(out), FileName) {
		t.Fatalf("%v: %s", err, out)
	}
	if err := Try(dir); err != nil {
		t.Error(err)
	}
	add(t, dir, Options{}, record("later"))
	if got, want := verified(t, dir), fmt.Sprintf("1-%d of %d", written+1, written+1); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestKilled kills processes while they write: what is there is a chain, at
// most with a line that was cut short.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for round := range 8 {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=k%d", writerEnv, round), fmt.Sprintf("%s_FOR=%d 0 %s", writerEnv, 1<<30, dir))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		path, before := filepath.Join(dir, FileName), int64(0)
		if info, err := os.Stat(path); err == nil {
			before = info.Size()
		}
		for range 10_000 { // until it is in the middle of it
			if info, err := os.Stat(path); err == nil && info.Size() > before+int64(round)*1000 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait() // it was killed
	}
	add(t, dir, Options{}, record("last"))
	h, err := OpenHistory(dir)
	if err != nil {
		t.Fatal(err)
	}
	v, err := h.Verify()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range v.Problems {
		if p.Kind != Damaged {
			t.Error(p)
		}
	}
	if v.Records < 8 || v.Chains[0].Last != int64(v.Records) {
		t.Errorf("%+v", v)
	}
}

// TestForeign opens a log, a head and a directory that belong to somebody else.
func TestForeign(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	for _, name := range []string{"", FileName, headName} {
		dir := t.TempDir()
		add(t, dir, Options{}, record("mine"))
		if err := os.Chown(filepath.Join(dir, name), 12345, -1); err != nil {
			t.Skip(err)
		}
		before, err := os.ReadFile(filepath.Join(dir, FileName))
		if err != nil {
			t.Fatal(err)
		}
		if err := tryAppend(t, dir); err == nil || !strings.Contains(err.Error(), "it belongs to user 12345") {
			t.Errorf("%q: %v", name, err)
		}
		if after, err := os.ReadFile(filepath.Join(dir, FileName)); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%q: it was written, %v", name, err)
		}
	}
}

// TestHeadRefused takes no head that is a link, a FIFO or a second name.
func TestHeadRefused(t *testing.T) {
	for name, test := range map[string]struct {
		make func(dir, path string) error
		want string
	}{
		"link": {func(dir, path string) error { return os.Symlink(filepath.Join(dir, FileName), path) }, "symbolic link"},
		"FIFO": {func(_, path string) error { return syscall.Mkfifo(path, 0o600) }, "not a regular file"},
		"hard link": {func(dir, path string) error {
			return os.Link(filepath.Join(dir, "target"), path)
		}, "second name"},
		"directory": {func(_, path string) error { return os.Mkdir(path, 0o700) }, "directory"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "target"), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := test.make(dir, filepath.Join(dir, headName)); err != nil {
				t.Fatal(err)
			}
			if err := tryAppend(t, dir); err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), headName) {
				t.Errorf("%v, want %s", err, test.want)
			}
			if data, err := os.ReadFile(filepath.Join(dir, "target")); err != nil || string(data) != "x" {
				t.Errorf("the target is %q, %v", data, err)
			}
		})
	}
}

// TestBusy gives up on a log that somebody holds on to.
func TestBusy(t *testing.T) {
	dir := t.TempDir()
	add(t, dir, Options{}, record("one"))
	held, err := lockHead(filepath.Join(dir, headName), 0, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := Append(dir, Options{Wait: time.Millisecond}, record("two")); err == nil || !strings.Contains(err.Error(), "held it too long") {
		t.Error(err)
	}
	held.Close()
	add(t, dir, Options{}, record("three"))
	if got := verified(t, dir); got != "1-2 of 2" {
		t.Error(got)
	}
}

// tryAppend appends a record, and holds what Try said before against that.
func tryAppend(t *testing.T, dir string) error {
	t.Helper()
	said := Try(dir)
	err := Append(dir, Options{}, record("x"))
	if fmt.Sprint(said) != fmt.Sprint(err) {
		t.Errorf("Try said %v, and Append %v", said, err)
	}
	return err
}
