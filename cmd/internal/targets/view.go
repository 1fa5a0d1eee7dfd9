package targets

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"gate/internal/load"
)

// A view shows one part of a tree, and the data that lies above it: what stands
// beside the part has nothing to do with it, and may be broken.
type view struct {
	fs.FS
	part string
}

func (v view) shows(name string) bool {
	return within(name, v.part) || within(v.part, name) || load.IsDataFile(name) && within(v.part, path.Dir(name))
}

// within reports that a name is a directory's, or lies in it.
func within(name, dir string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

func (v view) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(v.FS, name)
	return slices.DeleteFunc(list, func(d fs.DirEntry) bool { return !v.shows(path.Join(name, d.Name())) }), err
}

func (v view) ReadLink(name string) (string, error)   { return fs.ReadLink(v.FS, name) }
func (v view) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(v.FS, name) }
func (v view) Stat(name string) (fs.FileInfo, error)  { return fs.Stat(v.FS, name) }
