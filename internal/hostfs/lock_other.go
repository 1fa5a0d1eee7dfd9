//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package hostfs

import "github.com/rogpeppe/go-internal/lockedfile"

// A Locked is a file whose lock is held until it is closed.
type Locked struct{ *lockedfile.File }

// tryLock returns what waits for whoever holds the lock of a file.
func tryLock(name string, flags int) (l *Locked, wait func() (*Locked, error), err error) {
	return nil, func() (*Locked, error) {
		f, err := lockedfile.OpenFile(name, flags, 0o600)
		if err != nil {
			return nil, err
		}
		return &Locked{f}, nil
	}, nil
}
