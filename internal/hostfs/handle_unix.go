//go:build linux || darwin

package hostfs

import (
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Handle is an open file or directory, for what each call looks at: package os
// asks the system about what it opens, tells its poller and the collector, and
// takes memory for that, which is longer than the look. It never waits and never
// follows a link as the last step. Goroutines may share it until it is closed,
// once. The zero Handle is closed: whatever is done with it is an error.
type Handle struct{ number int } // the descriptor's, counted from one

// OpenHandle opens a directory to list it and to look into it.
func OpenHandle(dir string) (Handle, error) {
	return openAt(unix.AT_FDCWD, dir, unix.O_DIRECTORY)
}

// OpenFile opens a file of a directory to read it. Whether it is a regular one is
// for the caller to check.
func (h Handle) OpenFile(name string) (Handle, error) {
	return openAt(h.FD(), name, unix.O_NONBLOCK)
}

func openAt(dir int, name string, flags int) (Handle, error) {
	for {
		fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|flags, 0)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return Handle{}, &fs.PathError{Op: "open", Path: name, Err: err}
		default:
			return Handle{fd + 1}, nil
		}
	}
}

// FD returns the descriptor, -1 of the zero Handle.
func (h Handle) FD() int { return h.number - 1 }

// Close closes it. Nothing was written, so nothing can be lost.
func (h Handle) Close() { unix.Close(h.FD()) }

// Stat describes what was opened, by the name that it is given.
func (h Handle) Stat(name string) (fs.FileInfo, error) {
	info := &handleInfo{name: name}
	for {
		err := syscall.Fstat(h.FD(), &info.stat)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
		default:
			return info, nil
		}
	}
}

// Read fills buf from a file, from where it was read last. A file that ends
// earlier is [io.ErrUnexpectedEOF].
func (h Handle) Read(buf []byte) error {
	for len(buf) > 0 {
		n, err := unix.Read(h.FD(), buf)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return os.NewSyscallError("read", err)
		case n == 0:
			return io.ErrUnexpectedEOF
		default:
			buf = buf[n:]
		}
	}
	return nil
}

// Holds reports whether a directory holds anything but one name, or whether that
// cannot be told. It may be asked again.
func (h Handle) Holds(but string) bool {
	if _, err := unix.Seek(h.FD(), 0, io.SeekStart); err != nil {
		return true
	}
	return holds(h.FD(), but)
}

// A handleInfo is what package os makes of the same answer of the system.
type handleInfo struct {
	name string
	stat syscall.Stat_t
}

func (i *handleInfo) Name() string       { return i.name }
func (i *handleInfo) Size() int64        { return i.stat.Size }
func (i *handleInfo) IsDir() bool        { return i.Mode().IsDir() }
func (i *handleInfo) Sys() any           { return &i.stat }
func (i *handleInfo) ModTime() time.Time { return time.Unix(modified(&i.stat).Unix()) }

func (i *handleInfo) Mode() fs.FileMode {
	is := uint32(i.stat.Mode)
	mode := fs.FileMode(is & 0o777)
	for _, bit := range []struct {
		set  uint32
		mode fs.FileMode
	}{{unix.S_ISUID, fs.ModeSetuid}, {unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISVTX, fs.ModeSticky}} {
		if is&bit.set != 0 {
			mode |= bit.mode
		}
	}
	switch is & unix.S_IFMT {
	case unix.S_IFREG:
		return mode
	case unix.S_IFDIR:
		return mode | fs.ModeDir
	case unix.S_IFLNK:
		return mode | fs.ModeSymlink
	}
	return mode | fs.ModeIrregular // what it is in detail nobody asks
}
