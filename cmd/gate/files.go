package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// hostFiles reads the machine's files for facts. Whatever a line names, a
// FIFO, a device or a file of 100 GB, costs no more than a look at it (threat
// model 24).
type hostFiles struct{}

func (hostFiles) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(filepath.FromSlash(name)) }

func (hostFiles) Readlink(name string) (string, error) {
	target, err := os.Readlink(filepath.FromSlash(name))
	return filepath.ToSlash(target), err
}

func (hostFiles) ReadFile(name string, limit int) ([]byte, error) {
	name = filepath.FromSlash(name)
	// To open a device can do something. The second look, at what was opened,
	// is the one that counts.
	if err := regular(os.Stat(name)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readRegular(f, limit)
}

var errIrregular = errors.New("not a regular file")

func regular(info fs.FileInfo, err error) error {
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errIrregular
	}
	return nil
}

// readRegular reads a whole file of at most limit bytes.
func readRegular(f *os.File, limit int) ([]byte, error) {
	if err := regular(f.Stat()); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(data) > limit {
		return nil, fmt.Errorf("larger than %d bytes", limit)
	}
	return data, nil
}

// An ownedFS is a directory of settings and hooks in which every file and
// directory is checked when it is opened. It never follows a link out of the
// directory and never waits for a FIFO.
type ownedFS struct {
	root  *os.Root
	dir   string // for messages
	owner *owner // nil: anybody's
}

func (o ownedFS) Open(name string) (fs.File, error) {
	fail := func(err error) (fs.File, error) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	if !fs.ValidPath(name) {
		return fail(fs.ErrInvalid)
	}
	f, err := o.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() {
		err = regular(info, nil)
	}
	if err == nil {
		err = o.owner.check(filepath.Join(o.dir, filepath.FromSlash(name)), info)
	}
	if err != nil {
		f.Close()
		return fail(err)
	}
	return f, nil
}

func (o ownedFS) Lstat(name string) (fs.FileInfo, error) {
	info, err := o.root.Lstat(filepath.FromSlash(name))
	if err == nil && info.Mode()&fs.ModeSymlink != 0 && o.owner != nil && !o.owner.links {
		err = o.owner.check(filepath.Join(o.dir, filepath.FromSlash(name)), info)
	}
	if err != nil {
		return nil, err
	}
	return info, nil
}

func (o ownedFS) ReadLink(name string) (string, error) {
	target, err := o.root.Readlink(filepath.FromSlash(name))
	return filepath.ToSlash(target), err
}
