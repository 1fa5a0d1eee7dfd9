//go:build unix

package main

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// within has a program see a directory as the root directory, unless it is "".
func within(cmd *exec.Cmd, root string) {
	if root != "" {
		cmd.SysProcAttr, cmd.Dir = &syscall.SysProcAttr{Chroot: root}, "/"
	}
}

// peakMemory is the most memory that a process had, in bytes.
func peakMemory(state *os.ProcessState) int64 {
	used, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(used.Maxrss) // in bytes there
	}
	return int64(used.Maxrss) << 10
}
