//go:build unix

package commands

import (
	"os/exec"
	"syscall"
)

// detach has a process outlive the one that starts it, and whoever kills its
// process group.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// niceness is what the process that compiles asks for: the agent's next calls go
// first, and it still ends soon on a machine that has no processor to spare.
const niceness = 10

// giveWay lets other processes go first. It asks for the whole process group,
// because Linux otherwise changes one thread only.
func giveWay() {
	if pid := syscall.Getpid(); syscall.Getpgrp() == pid {
		syscall.Setpriority(syscall.PRIO_PGRP, 0, niceness) // if refused, it is only slower for others
	}
}
