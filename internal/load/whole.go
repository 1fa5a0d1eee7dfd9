package load

import (
	"bytes"
	"errors"
	"io/fs"

	"gate/internal/hostfs"
)

// Whole guards against files that are half-written. The end of a TOML, YAML
// or Rego file cannot be told from a place where it was cut off; but a file
// that is now a proper beginning of what it was when it was last good has
// lost its end. last returns those bytes, nil where they are not known.
// Reading such a file is an error, which closes where a broken source does,
// until the new content is remembered as good: by a person's word, or by
// whatever wrote the file.
func Whole(fsys fs.FS, last func(name string) []byte) fs.FS { return wholeFS{fsys, last} }

// ErrCutOff reports a file that has lost its end.
var ErrCutOff = errors.New("only the beginning of its former content: it may be half-written; " +
	"if it is meant so, run gate doctor --fix")

// CutOff reports that now is before without its end.
func CutOff(before, now []byte) bool { return len(now) < len(before) && bytes.HasPrefix(before, now) }

type wholeFS struct {
	fs.FS
	last func(name string) []byte
}

func (w wholeFS) Open(name string) (fs.File, error) {
	f, err := w.FS.Open(name)
	if err != nil {
		return nil, err
	}
	before := w.last(name)
	if before == nil {
		return f, nil
	}
	data, err := hostfs.ReadAll(f, maxFile)
	if err == nil && CutOff(before, data) {
		err = ErrCutOff
	}
	if err != nil {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &readFile{f, bytes.NewReader(data)}, nil
}

func (w wholeFS) Lstat(name string) (fs.FileInfo, error)     { return fs.Lstat(w.FS, name) }
func (w wholeFS) ReadLink(name string) (string, error)       { return fs.ReadLink(w.FS, name) }
func (w wholeFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(w.FS, name) }

// A readFile is an open file that has been read already.
type readFile struct {
	fs.File
	content *bytes.Reader
}

func (f *readFile) Read(p []byte) (int, error) { return f.content.Read(p) }
