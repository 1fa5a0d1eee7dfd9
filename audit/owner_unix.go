//go:build unix

package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openFlags keep the opening from following a link and from waiting for the
// reader of a FIFO.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// owned reports whether the file is the user's and has no second name.
func owned(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return errors.New("its owner is unknown")
	case int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("it belongs to user %d", stat.Uid)
	case !info.IsDir() && stat.Nlink > 1:
		return errors.New("it has a second name (a hard link)")
	}
	return nil
}

func private(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }

// lock takes the file for this process, and reports whether it got it. It ends
// when the file is closed or the process dies.
func lock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
