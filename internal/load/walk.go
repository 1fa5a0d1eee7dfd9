package load

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"gate/internal/hostfs"
)

// Limits of one tree. A tree beyond them is a fault, not a slow start.
const (
	maxFile    = 1 << 20  // bytes of one Rego file
	maxTree    = 64 << 20 // bytes of all of them
	maxEntries = 50_000   // files and directories looked at
	maxLinks   = 16       // symbolic links in a row
)

// A file is a file as read.
type file struct {
	name string
	text string
}

// read returns the wanted files of a tree in the order of their names. Whatever
// cannot be read is a fault.
func (l *loader) read(fsys fs.FS) []file {
	var files []file
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if l.entries++; l.entries > maxEntries {
			return fmt.Errorf("more than %d files and directories", maxEntries)
		}
		if err != nil {
			l.fault("%s: %w", name, hostfs.Reason(err))
			return nil // WalkDir leaves a directory that cannot be read
		}
		hidden := name != "." && strings.HasPrefix(path.Base(name), ".")
		switch {
		case hidden && d.IsDir():
			return fs.SkipDir
		case hidden || d.IsDir():
			return nil
		}
		link := d.Type()&fs.ModeSymlink != 0
		if !l.wanted(name) && !link {
			return nil
		}
		target, err := l.target(fsys, name, link)
		if err != nil {
			l.fault("%s: %w", name, hostfs.Reason(err))
			return nil
		}
		if target == "" || !l.wanted(name) {
			return nil
		}
		most := maxFile
		if IsDataFile(name) {
			most = maxData
		}
		text, err := l.readFile(fsys, target, most)
		if err != nil {
			l.fault("%s: %w", name, hostfs.Reason(err))
			return nil
		}
		files = append(files, file{name, text})
		return nil
	})
	if err != nil {
		l.fault("%w", err)
	}
	return files
}

func isPolicyFile(name string) bool {
	return strings.HasSuffix(name, ".rego") && !strings.HasSuffix(name, "_test.rego")
}

// target follows symbolic links within the tree. It returns "" for a link that
// has nothing to do with policies.
func (l *loader) target(fsys fs.FS, name string, link bool) (string, error) {
	at := name
	for range maxLinks {
		if !link {
			return at, nil
		}
		to, err := fs.ReadLink(fsys, at)
		if err != nil {
			return "", err
		}
		next := path.Join(path.Dir(at), to)
		if path.IsAbs(to) || !fs.ValidPath(next) {
			if !l.wanted(name) && !leadsToDir(fsys, name) {
				return "", nil
			}
			return "", fmt.Errorf("a symbolic link out of the tree, to %s; put the file itself here", to)
		}
		info, err := fs.Lstat(fsys, next)
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("a symbolic link that leads nowhere, to %s", to)
		}
		if err != nil {
			return "", err
		}
		if info.IsDir() {
			return "", errors.New("a symbolic link to a directory; put the directory itself here")
		}
		at, link = next, info.Mode()&fs.ModeSymlink != 0
	}
	return "", errors.New("too many symbolic links in a row")
}

// leadsToDir reports that a link may hide a directory of policies; when in
// doubt it does.
func leadsToDir(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err != nil || info.IsDir()
}

func (l *loader) readFile(fsys fs.FS, name string, most int) (string, error) {
	data, err := readAtMost(fsys, name, most)
	if err != nil {
		return "", err
	}
	if l.bytes += int64(len(data)); l.bytes > maxTree {
		return "", fmt.Errorf("the files are larger than %d bytes together", maxTree)
	}
	if !utf8.Valid(data) {
		return "", errors.New("not valid UTF-8")
	}
	if strings.HasPrefix(string(data), "\ufeff") {
		return "", errors.New("it begins with a byte order mark; save it as UTF-8 without one, or run gate fmt")
	}
	return Unrecorded(string(data)), nil
}

// readAtMost reads a regular file. What is too large is an error.
func readAtMost(fsys fs.FS, name string, most int) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, hostfs.ErrIrregular
	}
	return hostfs.ReadAll(f, most)
}
