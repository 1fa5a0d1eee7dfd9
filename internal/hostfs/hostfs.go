// Package hostfs reads, checks, locks and replaces files of the machine.
//
// Anybody may have put a file there: reading never waits for a FIFO, touches no
// device, and ends at a limit ([Files], [Dir], [ReadAll]). [Replace] replaces a file
// as a whole. Files of gate's own, such as the decision log, grants and the memory of
// sessions, belong to the account that gate runs as, and to nobody else: [Private]
// checks that, [ReadFile] reads such a file, [Lock] holds its lock. Settings and
// policies may be root's, too: [Ownership] checks them.
//
// The package repairs nothing, and knows no file's meaning. Check what was opened, not
// a name. Start with [Files] for facts, with [Dir] for a directory of settings.
package hostfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Files is the machine, with absolute slash-separated names. Whatever is
// named, a FIFO, a device or a file of 100 GB, costs no more than a look at
// it.
type Files struct{}

// Lstat is os.Lstat.
func (Files) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(filepath.FromSlash(name)) }

// SameAs returns the first of some names that is the same file as one that has several
// names, "" for none and where the system does not count names.
func (Files) SameAs(info fs.FileInfo, names []string) string {
	if info == nil || !info.Mode().IsRegular() || !severalNames(info) {
		return ""
	}
	for _, name := range names {
		if other, err := os.Lstat(filepath.FromSlash(name)); err == nil && os.SameFile(info, other) {
			return name
		}
	}
	return ""
}

// Readlink is os.Readlink.
func (Files) Readlink(name string) (string, error) {
	target, err := os.Readlink(filepath.FromSlash(name))
	return filepath.ToSlash(target), err
}

// ReadDir returns what a directory holds, in no order. More than limit names are the
// error [TooLarge].
func (Files) ReadDir(name string, limit int) ([]fs.DirEntry, error) {
	d, err := os.Open(asDir(filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	list, err := d.ReadDir(limit + 1)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case len(list) > limit:
		return nil, TooLarge(limit)
	}
	return list, nil
}

// ReadFile reads a regular file of at most limit bytes. What is larger is the
// error [TooLarge].
func (Files) ReadFile(name string, limit int) ([]byte, error) {
	f, err := Regular(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// Names returns the names in a directory, in no order: at most that many, which may be any.
func (Files) Names(dir string, most int) ([]string, error) {
	d, err := os.Open(asDir(filepath.FromSlash(dir)))
	if err != nil {
		return nil, named(err, dir)
	}
	defer d.Close()
	names, err := d.Readdirnames(most)
	if err != nil && err != io.EOF {
		return nil, named(err, dir)
	}
	return names, nil
}

// Exists reports whether os.Lstat finds a file, which may be a link that leads
// nowhere.
func Exists(name string) bool {
	_, err := isLink(name)
	return err == nil
}

// Missing reports whether os.Lstat finds that there is no such file: where it
// cannot tell, false.
func Missing(name string) bool {
	_, err := isLink(name)
	return os.IsNotExist(err) // errors.Is would be the first of a process to need tables of methods
}

// ErrIrregular reports a directory, a device or the like.
var ErrIrregular = errors.New("not a regular file")

// Regular opens a regular file of any size by its name as the system writes it.
func Regular(name string) (*os.File, error) {
	// To open a device can do something. The second look, at what was opened,
	// is the one that counts.
	if err := regular(os.Stat(name)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	if err := regular(f.Stat()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func regular(info fs.FileInfo, err error) error {
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return ErrIrregular
	}
	return nil
}

// OpenDir opens a directory. What is none is an error at once, where
// [os.OpenRoot] would wait for whoever writes to a FIFO.
func OpenDir(name string) (*os.Root, error) {
	root, err := os.OpenRoot(asDir(name))
	return root, named(err, name)
}

// OpenDirIn is [OpenDir] of a directory below root. It never follows a link out
// of root.
func OpenDirIn(root *os.Root, name string) (*os.Root, error) {
	inner, err := root.OpenRoot(asDir(name))
	return inner, named(err, name)
}

// asDir has the system refuse to open anything but a directory.
func asDir(name string) string {
	if name == "" {
		return "" // which is not the root of all
	}
	return name + string(filepath.Separator)
}

func named(err error, name string) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: "open", Path: name, Err: Reason(err)}
}

// Open opens a regular file or a directory below root, by its name as package
// io/fs has them. It never follows a link out of root.
func Open(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	fail := func(err error) (*os.File, fs.FileInfo, error) {
		return nil, nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	if !fs.ValidPath(name) {
		return fail(fs.ErrInvalid)
	}
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() {
		err = regular(info, nil)
	}
	if err != nil {
		f.Close()
		return fail(err)
	}
	return f, info, nil
}

// Dir is a directory as an fs.FS whose files are opened with [Open].
type Dir struct{ Root *os.Root }

// Open opens a file of the directory.
func (d Dir) Open(name string) (fs.File, error) {
	f, _, err := Open(d.Root, name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Lstat and ReadLink make the links of the directory visible to package load.
func (d Dir) Lstat(name string) (fs.FileInfo, error) { return d.Root.Lstat(filepath.FromSlash(name)) }

// ReadLink returns where a link leads, with slashes.
func (d Dir) ReadLink(name string) (string, error) {
	target, err := d.Root.Readlink(filepath.FromSlash(name))
	return filepath.ToSlash(target), err
}
