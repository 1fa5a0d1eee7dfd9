package lsp

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// An overlay is a tree of files in which some have the text of an editor.
type overlay struct {
	under fs.FS
	texts map[string]string // by name
}

// Open opens a file as the editor has it, or a directory with the files that only the
// editor has.
func (o overlay) Open(name string) (fs.File, error) {
	if text, ok := o.texts[name]; ok {
		return &memoryFile{memoryInfo{path.Base(name), len(text)}, bytes.NewReader([]byte(text))}, nil
	}
	return o.under.Open(name)
}

// ReadDir lists a directory, with the files that only the editor has.
func (o overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(o.under, name)
	if err != nil {
		return list, err
	}
	for file, text := range o.texts {
		if path.Dir(file) != name {
			continue
		}
		entry := fs.FileInfoToDirEntry(memoryInfo{path.Base(file), len(text)})
		at, found := slices.BinarySearchFunc(list, entry.Name(), func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
		if found {
			list[at] = entry // a link becomes what it leads to
		} else {
			list = slices.Insert(list, at, entry)
		}
	}
	return list, nil
}

// Stat looks at a file as the editor has it.
func (o overlay) Stat(name string) (fs.FileInfo, error) {
	if text, ok := o.texts[name]; ok {
		return memoryInfo{path.Base(name), len(text)}, nil
	}
	return fs.Stat(o.under, name)
}

// Lstat is Stat: the editor's text is no link.
func (o overlay) Lstat(name string) (fs.FileInfo, error) {
	if text, ok := o.texts[name]; ok {
		return memoryInfo{path.Base(name), len(text)}, nil
	}
	return fs.Lstat(o.under, name)
}

// ReadLink reads a link of the tree below.
func (o overlay) ReadLink(name string) (string, error) {
	if _, ok := o.texts[name]; ok {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	return fs.ReadLink(o.under, name)
}

// A memoryInfo describes a text of the editor.
type memoryInfo struct {
	name string
	size int
}

func (i memoryInfo) Name() string       { return i.name }
func (i memoryInfo) Size() int64        { return int64(i.size) }
func (i memoryInfo) Mode() fs.FileMode  { return 0o644 }
func (i memoryInfo) ModTime() time.Time { return time.Time{} }
func (i memoryInfo) IsDir() bool        { return false }
func (i memoryInfo) Sys() any           { return nil }

// A memoryFile is a text of the editor, opened.
type memoryFile struct {
	info memoryInfo
	io.Reader
}

func (f *memoryFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *memoryFile) Close() error               { return nil }
