package world

import (
	"errors"
	"io/fs"
)

// A lister is Files that tell what a directory holds.
type lister interface {
	// ReadDir returns what a directory holds, in no order, and an error where that are
	// more than limit names.
	ReadDir(name string, limit int) ([]fs.DirEntry, error)
}

var errNoList = errors.New("nobody tells what a directory holds")

// List returns what a directory holds, of at most limit names, each as it is without
// following links. It is an error where nobody tells.
func (w World) List(name string, limit int) ([]fs.DirEntry, error) {
	files, ok := w.Files.(lister)
	if !ok {
		return nil, errNoList
	}
	return files.ReadDir(name, limit)
}
