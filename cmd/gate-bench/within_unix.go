//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// within has a program see a directory as the root directory, unless it is "".
func within(cmd *exec.Cmd, root string) {
	if root != "" {
		cmd.SysProcAttr, cmd.Dir = &syscall.SysProcAttr{Chroot: root}, "/"
	}
}
