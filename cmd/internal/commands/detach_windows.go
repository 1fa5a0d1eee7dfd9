package commands

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach has a process outlive the one that starts it, and lets others go first.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.BELOW_NORMAL_PRIORITY_CLASS | windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// giveWay has nothing to do: detach starts the process with a low priority.
func giveWay() {}
