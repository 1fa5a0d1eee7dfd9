package accounts

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOpens watches who opens what in an account's home: the child, and never root.
func TestOpens(t *testing.T) {
	a := newAccount(t)
	write(t, a.Dir, "dev", "one")
	a.own(t)
	fd, err := unix.FanotifyInit(unix.FAN_CLASS_NOTIF|unix.FAN_CLOEXEC|unix.FAN_NONBLOCK, unix.O_RDONLY|unix.O_CLOEXEC)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
		t.Skip("nobody can watch who opens files here: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for _, dir := range []string{a.home, a.Dir} {
		if err := unix.FanotifyMark(fd, unix.FAN_MARK_ADD, unix.FAN_OPEN|unix.FAN_ONDIR|unix.FAN_EVENT_ON_CHILD, unix.AT_FDCWD, dir); err != nil {
			t.Skip("nobody can watch who opens files here: ", err)
		}
	}
	if got := a.ship(t); got != "one" {
		t.Error(got)
	}
	root, others := openers(t, fd)
	if root > 0 || others == 0 {
		t.Errorf("root opened %d files in the home, the child %d", root, others)
	}
	if _, err := os.ReadFile(filepath.Join(a.Dir, "decisions.jsonl")); err != nil {
		t.Fatal(err)
	}
	if root, _ := openers(t, fd); root != 1 {
		t.Errorf("a file that this test opens is seen %d times", root)
	}
}

// openers reads what was opened since the last time, by this process and by others.
func openers(t *testing.T, fd int) (root, others int) {
	t.Helper()
	buf := make([]byte, 1<<16)
	n, err := unix.Read(fd, buf)
	if err != nil {
		t.Fatal(err)
	}
	for events := buf[:n]; len(events) > 0; {
		var e unix.FanotifyEventMetadata
		if err := binary.Read(bytes.NewReader(events), binary.NativeEndian, &e); err != nil {
			t.Fatal(err)
		}
		unix.Close(int(e.Fd))
		if int(e.Pid) == os.Getpid() {
			root++
		} else {
			others++
		}
		events = events[e.Event_len:]
	}
	return root, others
}
