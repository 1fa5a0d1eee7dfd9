package audit

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"gate/owned"
)

var (
	errBusy    = errors.New("other processes held it too long")
	errIsLink  = errors.New("a symbolic link, not a file")
	errNotFile = errors.New("not a regular file")
)

// lockHead opens the head, with more flags, and locks it until it is closed or
// the process dies. It waits for others; the wait goes on behind the caller's back where it took
// too long, because nothing ends it but the lock.
func lockHead(path string, flags int, wait time.Duration) (*lockedfile.File, error) {
	type outcome struct {
		file *lockedfile.File
		err  error
	}
	got := make(chan outcome)
	late := make(chan struct{})
	go func() {
		f, err := lockedfile.OpenFile(path, os.O_RDWR|flags|owned.OpenFlags, 0o600)
		select {
		case got <- outcome{f, err}:
		case <-late:
			if err == nil {
				f.Close()
			}
		}
	}()
	limit := time.NewTimer(wait)
	defer limit.Stop()
	var o outcome
	select {
	case o = <-got:
	case <-limit.C:
		close(late)
		return nil, errBusy
	}
	if o.err != nil {
		return nil, linkError(path, o.err)
	}
	if err := makePrivate(o.file); err != nil {
		o.file.Close()
		return nil, err
	}
	return o.file, nil
}

// linkError says of a file that could not be opened that it is a link, if it is.
func linkError(path string, err error) error {
	if info, lerr := os.Lstat(path); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
		return errIsLink
	}
	return err
}

// makePrivate closes an open file to others. It refuses what is no regular file
// of this account's.
func makePrivate(f interface {
	Stat() (fs.FileInfo, error)
	Chmod(fs.FileMode) error
}) error {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotFile
	}
	if err == nil {
		err = owned.Own(info)
	}
	if err == nil && !owned.Closed(info) {
		err = f.Chmod(0o600)
	}
	return err
}
