//go:build unix

package hostfs

import (
	"io/fs"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// nonBlocking keeps the opening of a FIFO from waiting for its writer.
const nonBlocking = syscall.O_NONBLOCK

// severalNames reports a file with hard links.
func severalNames(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 1
}

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

// Holds reports whether an open directory holds anything but one name, or
// whether that cannot be told. Package os takes pages of memory to find out.
func Holds(d *os.File, but string) bool { return holds(int(d.Fd()), but) }

func holds(dir int, but string) bool {
	var buf [1 << 10]byte
	var some [2]string
	for {
		n, err := unix.ReadDirent(dir, buf[:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return true
		case n == 0:
			return false
		}
		for rest := buf[:n]; len(rest) > 0; {
			length, _, names := unix.ParseDirent(rest, len(some), some[:0])
			if length <= 0 || slices.ContainsFunc(names, func(name string) bool { return name != but }) {
				return true
			}
			rest = rest[length:]
		}
	}
}
