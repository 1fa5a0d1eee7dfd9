package artifact

import (
	"errors"
	"fmt"
	"io"
	"os"
	"unsafe"
)

// MaxSize is the largest file that is opened, in bytes.
const MaxSize = 512 << 20

// small files are read: that costs less than a page fault for each page.
const small = 64 << 10

// Read returns the content of an open file for [Open]. A large one is mapped
// into memory, for as long as the process runs; f may be closed all the same.
// Files are replaced as a whole and never written to, so nobody cuts off what is
// mapped. The caller must have checked whose the file is.
func Read(f *os.File) (string, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s: not a regular file", f.Name())
	case info.Size() > MaxSize:
		return "", fmt.Errorf("%s: larger than %d bytes", f.Name(), MaxSize)
	case info.Size() <= small:
		return readAll(f, int(info.Size()))
	}
	return mapped(f, int(info.Size()))
}

// readAll reads a file of a known size.
func readAll(f *os.File, size int) (string, error) {
	if size == 0 {
		return "", errDamaged
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return "", fmt.Errorf("%s: %w", f.Name(), errors.Join(errDamaged, err))
	}
	return unsafe.String(&data[0], size), nil // nobody else has data
}
