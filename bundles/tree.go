package bundles

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// A tree is an immutable file system in memory.
type tree struct {
	files map[string][]byte
	dirs  map[string][]fs.DirEntry // sorted by name
}

func newTree(files map[string][]byte) *tree {
	t := &tree{files: files, dirs: map[string][]fs.DirEntry{".": nil}}
	for name, data := range files {
		t.enter(name, node{name: path.Base(name), size: int64(len(data))})
	}
	for _, list := range t.dirs {
		slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return t
}

// enter puts an entry into its directory, which it makes.
func (t *tree) enter(name string, n node) {
	dir := path.Dir(name)
	if _, there := t.dirs[dir]; !there {
		t.dirs[dir] = nil
		t.enter(dir, node{name: path.Base(dir), dir: true})
	}
	t.dirs[dir] = append(t.dirs[dir], fs.FileInfoToDirEntry(n))
}

// Open implements [fs.FS].
func (t *tree) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if data, ok := t.files[name]; ok {
		return &file{Reader: bytes.NewReader(data), node: node{name: path.Base(name), size: int64(len(data))}}, nil
	}
	if list, ok := t.dirs[name]; ok {
		return &dir{node: node{name: path.Base(name), dir: true}, left: list}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ReadFile implements [fs.ReadFileFS]; the bytes are the caller's own.
func (t *tree) ReadFile(name string) ([]byte, error) {
	if data, ok := t.files[name]; ok && fs.ValidPath(name) {
		return slices.Clone(data), nil
	}
	f, err := t.Open(name)
	if err == nil {
		err = &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
		f.Close()
	}
	return nil, err
}

// A node is what is known about a file or directory without opening it.
type node struct {
	name string
	size int64
	dir  bool
}

func (n node) Name() string       { return n.name }
func (n node) Size() int64        { return n.size }
func (n node) ModTime() time.Time { return time.Time{} }
func (n node) IsDir() bool        { return n.dir }
func (n node) Sys() any           { return nil }
func (n node) Mode() fs.FileMode {
	if n.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

type file struct {
	*bytes.Reader
	node node
}

func (f *file) Stat() (fs.FileInfo, error) { return f.node, nil }
func (f *file) Close() error               { return nil }

type dir struct {
	node node
	left []fs.DirEntry
}

func (d *dir) Stat() (fs.FileInfo, error) { return d.node, nil }
func (d *dir) Close() error               { return nil }

func (d *dir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.node.name, Err: fs.ErrInvalid}
}

// ReadDir implements [fs.ReadDirFile].
func (d *dir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(d.left)
	} else if len(d.left) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.left))
	list := slices.Clone(d.left[:n])
	d.left = d.left[n:]
	return list, nil
}
