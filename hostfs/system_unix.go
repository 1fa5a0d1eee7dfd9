//go:build unix

package hostfs

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// nonBlocking keeps the opening of a FIFO from waiting for its writer.
const nonBlocking = syscall.O_NONBLOCK

// isLink looks at a file as os.Lstat does, for nothing else.
func isLink(name string) (bool, error) {
	var info unix.Stat_t
	for {
		err := unix.Lstat(name, &info)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return false, &fs.PathError{Op: "lstat", Path: name, Err: err}
		default:
			return info.Mode&unix.S_IFMT == unix.S_IFLNK, nil
		}
	}
}
