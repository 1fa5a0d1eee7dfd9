package hostfs

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// A Memory is a file system in memory, by path. Once all of it was added it is
// immutable, and safe for concurrent use.
type Memory map[string]*node

// A node is a file or a directory, and describes itself.
type node struct {
	name    string
	mode    fs.FileMode
	content []byte
	below   []fs.DirEntry
}

func (n *node) Name() string               { return n.name }
func (n *node) Size() int64                { return int64(len(n.content)) }
func (n *node) Mode() fs.FileMode          { return n.mode }
func (n *node) Type() fs.FileMode          { return n.mode.Type() }
func (n *node) ModTime() time.Time         { return time.Time{} }
func (n *node) IsDir() bool                { return n.mode.IsDir() }
func (n *node) Sys() any                   { return nil }
func (n *node) Info() (fs.FileInfo, error) { return n, nil }

// Add puts a file or directory in its place, and the directories above it. Of the
// mode its type counts, and whether the file is a program.
func (m Memory) Add(name string, mode fs.FileMode, content []byte) {
	n := m.at(name)
	n.mode, n.content = mode.Type()|0o444|mode&0o111, content
	if mode.IsDir() {
		n.mode |= 0o111
	}
}

func (m Memory) at(name string) *node {
	if n := m[name]; n != nil {
		return n
	}
	n := &node{name: path.Base(name), mode: fs.ModeDir | 0o555}
	m[name] = n
	if name != "." {
		above := m.at(path.Dir(name))
		above.below = append(above.below, n)
	}
	return n
}

// Open opens a file or directory.
func (m Memory) Open(name string) (fs.File, error) {
	n := m[name]
	switch {
	case !fs.ValidPath(name):
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	case n == nil && name == ".":
		n = &node{name: ".", mode: fs.ModeDir | 0o555} // an empty tree
	case n == nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if !n.IsDir() {
		return &openFile{n, bytes.NewReader(n.content)}, nil
	}
	below := slices.SortedFunc(slices.Values(n.below), func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return &openDir{n, below}, nil
}

type openFile struct {
	*node
	*bytes.Reader
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.node, nil }
func (f *openFile) Size() int64                { return f.node.Size() }
func (f *openFile) Close() error               { return nil }

type openDir struct {
	*node
	left []fs.DirEntry
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.node, nil }
func (d *openDir) Close() error               { return nil }

func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: fs.ErrInvalid}
}

// ReadDir returns the next n entries in the order of their names, or all.
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(d.left) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.left) {
		n = len(d.left)
	}
	out := d.left[:n:n]
	d.left = d.left[n:]
	return out, nil
}
