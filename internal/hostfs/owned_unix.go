//go:build unix

package hostfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// OpenFlags keep the opening of a file from following a link, and from waiting
// for the other side of a FIFO.
const OpenFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// Own reports why a file or directory is not this account's, whoever else may
// use it. A file with a second name, a hard link, is not.
func Own(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return errUnknown
	case int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("it belongs to user %d", stat.Uid)
	case !info.IsDir() && stat.Nlink > 1:
		return errors.New("it has a second name (a hard link)")
	}
	return nil
}

func changedAt(info fs.FileInfo) time.Time {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}
	}
	return time.Unix(changed(stat).Unix())
}

// Closed reports that neither group nor others may use it.
func Closed(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }

// Steady reports why others could replace what a directory holds. In a sticky
// directory they cannot, and root may own it.
func Steady(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return errUnknown
	case int(stat.Uid) != os.Geteuid() && stat.Uid != 0:
		return fmt.Errorf("it belongs to user %d", stat.Uid)
	case info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0:
		return fmt.Errorf("group or others may write it (mode %#o)", info.Mode().Perm())
	}
	return nil
}
