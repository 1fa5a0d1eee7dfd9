package commands

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach has a process outlive the one that starts it.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}
