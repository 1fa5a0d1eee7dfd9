//go:build unix

package handlers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A tree is a program and all that it starts. It has a session of its own: no
// terminal, and a group that signals reach.
type tree struct {
	mark string // an entry of the environment that descendants inherit
	sole bool   // this process has no other children, and orphans become its own
	most Limits
	pid  int
}

func (t *tree) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if t.sole {
		endWithParent(cmd.SysProcAttr)
	}
}

func (t *tree) started(p *os.Process) error {
	t.pid = p.Pid
	return nil
}

// end ends what is left of the tree: it asks, waits a moment, and then ends it.
// It returns when nothing is left.
func (t *tree) end() error {
	if t.signal(syscall.SIGTERM) == 0 {
		return nil
	}
	ends := func(d time.Duration, again func() int) (left int) {
		pause := time.Millisecond
		for since := time.Now(); time.Since(since) < d; pause = min(2*pause, 20*time.Millisecond) {
			time.Sleep(pause)
			if left = again(); left == 0 {
				return 0
			}
		}
		return left
	}
	if ends(grace, func() int { return t.signal(0) }) == 0 {
		return nil
	}
	// What forks faster than it is ended does not once it stands still.
	t.signal(syscall.SIGSTOP)
	if left := ends(patience, func() int { return t.signal(syscall.SIGKILL) }); left > 0 {
		return fmt.Errorf("%d processes could not be ended", left)
	}
	return nil
}

// signal sends a signal to every process of the tree, 0 to none, and returns how
// many there are at least.
func (t *tree) signal(sig syscall.Signal) int {
	sole := t.sole && adopts
	if sole && childless() {
		return 0
	}
	pids := t.members()
	for _, pid := range pids {
		if sig != 0 {
			syscall.Kill(pid, sig)
		}
	}
	if sole {
		return max(len(pids), 1) // some are gone and not yet waited for, or were missed
	}
	return len(pids)
}

// group is the tree as far as the group goes: what left it is not seen.
func (t *tree) group() []int {
	if err := syscall.Kill(-t.pid, 0); err != nil && !errors.Is(err, syscall.EPERM) {
		return nil
	}
	return []int{-t.pid}
}

// statusOf says how a program ended.
func statusOf(state *os.ProcessState) (status int, signal string) {
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return -1, w.Signal().String()
	}
	return state.ExitCode(), ""
}

// apart gives a supervisor a session of its own: what ends gate, such as the
// terminal's signals, must not end it before its command.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// rootDir is a directory that nobody wants to unmount or remove.
func rootDir() string { return "/" }

// closeForeign closes the descriptors that whoever started gate left open for
// it: the command gets none of them, and what the call goes on without keeps
// nobody waiting. This program's own all end when it starts another.
func closeForeign() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		entries, _ = os.ReadDir("/proc/self/fd")
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
}
