package audit

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"gate/internal/hostfs"
)

var (
	errBusy   = errors.New("other processes held it too long")
	errIsLink = errors.New("a symbolic link, not a file")
)

// lockHead opens the head, with more flags, and locks it until it is closed or
// the process dies. It waits for others.
func lockHead(path string, flags int, wait time.Duration) (*hostfs.Locked, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	f, err := hostfs.Lock(ctx, path, flags)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, errBusy
	case err != nil:
		return nil, linkError(path, err)
	}
	if _, err := private(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// linkError says of a file that could not be opened that it is a link, if it is.
func linkError(path string, err error) error {
	if info, lerr := os.Lstat(path); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
		return errIsLink
	}
	return err
}

// private closes an open file to others, and describes it. It refuses what is no
// regular file of this account's.
func private(f interface {
	Stat() (fs.FileInfo, error)
	Chmod(fs.FileMode) error
}) (fs.FileInfo, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = hostfs.ErrIrregular
	}
	if err == nil {
		err = hostfs.Own(info)
	}
	if err == nil && !hostfs.Closed(info) {
		err = f.Chmod(0o600)
	}
	return info, err
}
