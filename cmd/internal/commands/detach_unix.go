//go:build unix

package commands

import (
	"os/exec"
	"syscall"
)

// detach has a process outlive the one that starts it, and whoever kills its
// process group.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
