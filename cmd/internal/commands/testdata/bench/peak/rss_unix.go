//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// resident is the most memory that a process had, in KiB.
func resident(p *os.ProcessState) int64 {
	use, ok := p.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin": // counts bytes
		return use.Maxrss >> 10
	}
	return use.Maxrss
}
