package main

import (
	"io/fs"
	"os"
	"path/filepath"

	"gate/hostfs"
)

// hostFiles are the machine's files.
type hostFiles = hostfs.Files

// An ownedFS is a directory of settings and hooks in which every file and
// directory is checked when it is opened. It never follows a link out of the
// directory and never waits for a FIFO.
type ownedFS struct {
	root  *os.Root
	dir   string // for messages
	owner *owner // nil: anybody's
}

func (o ownedFS) Open(name string) (fs.File, error) {
	f, info, err := hostfs.Open(o.root, name)
	if err != nil {
		return nil, err
	}
	if err := o.owner.check(filepath.Join(o.dir, filepath.FromSlash(name)), info); err != nil {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
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
