//go:build unix

package thin

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// A stream is a file descriptor that is written to without package os, which
// ends the program when nobody reads any more: that is an error to answer.
type stream int

func stdout() io.Writer { return stream(1) }
func stderr() io.Writer { return stream(2) }

func (s stream) Write(data []byte) (n int, err error) {
	for n < len(data) {
		m, err := syscall.Write(int(s), data[n:])
		switch err {
		case nil:
			n += m
		case syscall.EINTR:
		case syscall.EAGAIN: // somebody made it non-blocking
			unix.Poll([]unix.PollFd{{Fd: int32(s), Events: unix.POLLOUT}}, -1)
		default:
			return n, err
		}
	}
	return n, nil
}
