//go:build unix

package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openFlags keep the opening from following a link and from waiting for the
// other side of a FIFO.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// private reports why a file or directory is not this account's alone.
func private(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return errors.New("its owner is unknown")
	case int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("it belongs to user %d", stat.Uid)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("group or others may use it (mode %#o)", info.Mode().Perm())
	case !info.IsDir() && stat.Nlink > 1:
		return errors.New("it has a second name (a hard link)")
	}
	return nil
}

// steady reports why a directory's entries could be replaced by others. In a
// sticky directory they cannot.
func steady(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return errors.New("its owner is unknown")
	case int(stat.Uid) != os.Geteuid() && stat.Uid != 0:
		return fmt.Errorf("it belongs to user %d", stat.Uid)
	case info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0:
		return fmt.Errorf("group or others may write it (mode %#o)", info.Mode().Perm())
	}
	return nil
}
