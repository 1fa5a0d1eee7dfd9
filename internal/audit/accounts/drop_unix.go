//go:build unix

package accounts

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// drop has a command run as an account, without further groups, without a terminal,
// and in a session of its own.
func drop(cmd *exec.Cmd, uid, gid uint32) error {
	if uid == 0 {
		return errors.New("root's own log is not read so")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: &syscall.Credential{Uid: uid, Gid: gid, Groups: []uint32{}}}
	return nil
}

// kill ends a process that was not waited for, and its session's processes.
func kill(p *os.Process) {
	syscall.Kill(-p.Pid, syscall.SIGKILL)
	p.Kill()
}
