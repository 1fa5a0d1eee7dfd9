//go:build unix

package mcpproxy

import (
	"os"
	"os/exec"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func terminate(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGTERM) }

// kill ends the whole group. Its id is not given away as long as it has a
// member, and when it has none this reaches nothing.
func kill(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGKILL) }
