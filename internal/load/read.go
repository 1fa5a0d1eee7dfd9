package load

import (
	"fmt"
	"io/fs"

	"gate/internal/hostfs"
)

// A Document is a file that a person wrote, read as strictly as settings are:
// one JSON, TOML or YAML document, within limits on size and depth, without
// what two readers could understand differently.
type Document struct {
	d *document
}

// Decode reads a file in the format that the ending of its name says. The
// error holds every mistake, each as file:line.
func Decode(file string, data []byte) (*Document, error) {
	d, err := decode(file, data)
	if err != nil {
		return nil, err
	}
	return &Document{d}, nil
}

// Value returns the tree that the file stands for, in the types of package
// strictjson. It must not be changed.
func (d *Document) Value() map[string]any { return d.d.value }

// Line returns the line, from 1, on which the value at a JSON pointer or its
// key begins; for what is not there that of the value above it.
func (d *Document) Line(pointer string) int { return d.d.line(pointer) }

// UnknownKey is the error about a key that an object has and should not. It
// names the known key that was probably meant, else all of them.
func (d *Document) UnknownKey(pointer, key string, known []string) error {
	return d.d.errorf(below(pointer, key), "unknown key %s%s", dotted(below(pointer, key)), didYouMean(key, "", known))
}

// Errorf makes an error that begins with the file and line of the value at a
// JSON pointer.
func (d *Document) Errorf(pointer, format string, args ...any) error {
	return d.d.errorf(pointer, format, args...)
}

// InOrder sorts errors that Errorf and UnknownKey made by line.
func InOrder(errs []error) []error { return inOrder(errs) }

// Below extends a JSON pointer by one key.
func Below(pointer, key string) string { return below(pointer, key) }

// ReadFile reads a regular file of at most so many bytes; what is larger, or a
// directory or device, is an error, and so is what cannot be read. The error
// begins with the name.
func ReadFile(fsys fs.FS, name string, most int) ([]byte, error) {
	data, err := readAtMost(fsys, name, most)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, hostfs.Reason(err))
	}
	return data, nil
}
