//go:build unix

package audit

import (
	"os"
	"syscall"
)

// lock takes the file for this process, and reports whether it got it. It ends
// when the file is closed or the process dies.
func lock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
