package places

import (
	"io/fs"
	"os"
	"path/filepath"

	"gate/internal/hostfs"
)

// An ownedFS is a directory of settings and hooks in which every file and
// directory is checked when it is opened. It never follows a link out of the
// directory and never waits for a FIFO.
type ownedFS struct {
	root  *os.Root
	dir   string // for messages
	owner *Owner // nil: anybody's
}

func (o ownedFS) Open(name string) (fs.File, error) {
	f, info, err := hostfs.Open(o.root, name)
	if err != nil {
		return nil, err
	}
	if err := o.owner.Check(filepath.Join(o.dir, filepath.FromSlash(name)), info); err != nil {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f, nil
}

func (o ownedFS) Lstat(name string) (fs.FileInfo, error) {
	info, err := o.root.Lstat(filepath.FromSlash(name))
	if err == nil && info.Mode()&fs.ModeSymlink != 0 && o.owner != nil && !o.owner.links {
		err = o.owner.Check(filepath.Join(o.dir, filepath.FromSlash(name)), info)
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

// A deepFS opens a directory below once, and not with each of its files anew: a
// bundle lies four directories deep and has many.
type deepFS struct{ ownedFS }

// Sub implements [fs.SubFS].
func (d deepFS) Sub(name string) (fs.FS, error) {
	root, err := hostfs.OpenDirIn(d.root, filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	return deepFS{ownedFS{root: root, dir: filepath.Join(d.dir, filepath.FromSlash(name)), owner: d.owner}}, nil
}
