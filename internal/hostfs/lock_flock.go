//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package hostfs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// A Locked is a file whose lock is held until it is closed.
type Locked struct{ *os.File }

// Close lets go of the lock. That comes first: a process that was just started
// may hold the file for a moment more.
func (l *Locked) Close() error {
	err := flock(l.File, syscall.LOCK_UN)
	if closing := l.File.Close(); closing != nil {
		return closing
	}
	return err
}

// tryLock opens and locks a file, or returns what waits for whoever holds it.
func tryLock(name string, flags int) (l *Locked, wait func() (*Locked, error), err error) {
	f, err := os.OpenFile(name, flags, 0o600)
	if err != nil {
		return nil, nil, err
	}
	hold := func(how int) (*Locked, error) {
		if err := flock(f, how); err != nil {
			return nil, &fs.PathError{Op: "lock", Path: name, Err: err}
		}
		return &Locked{f}, nil
	}
	switch l, err = hold(syscall.LOCK_EX | syscall.LOCK_NB); {
	case err == nil:
		return l, nil, nil
	case !errors.Is(err, syscall.EWOULDBLOCK):
		f.Close()
		return nil, nil, err
	}
	return nil, func() (*Locked, error) {
		l, err := hold(syscall.LOCK_EX)
		if err != nil {
			f.Close()
		}
		return l, err
	}, nil
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}
