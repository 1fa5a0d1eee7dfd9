//go:build unix

package drive

import (
	"os"
	"os/exec"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends what a client started and left. The group's id is not given away as long as
// it has a member, and when it has none this reaches nothing.
func endGroup(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGKILL) }
