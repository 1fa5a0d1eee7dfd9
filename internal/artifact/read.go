package artifact

import (
	"errors"
	"fmt"
	"io/fs"
	"unsafe"

	"gate/internal/hostfs"
)

// MaxSize is the largest file that is opened, in bytes.
const MaxSize = 512 << 20

// small files are read. To map a file takes a call and one page fault for many of
// its pages, to read it a fault for each page that it is copied to.
const small = 8 << 10

// Read returns the content of an open file, of which info is true, for [Open]. A
// large one is mapped into memory, for as long as the process runs; f may be closed
// all the same. Files are replaced as a whole and never written to, so nobody cuts
// off what is mapped. The caller must have checked whose the file is.
func Read(f hostfs.Handle, info fs.FileInfo) (string, error) {
	switch size := info.Size(); {
	case !info.Mode().IsRegular():
		return "", hostfs.ErrIrregular
	case size == 0:
		return "", errDamaged
	case size > MaxSize:
		return "", fmt.Errorf("larger than %d bytes", MaxSize)
	case size <= small:
		return readAll(f, int(size))
	default:
		return mapped(f, int(size))
	}
}

// readAll reads a file of a known size.
func readAll(f hostfs.Handle, size int) (string, error) {
	data := make([]byte, size)
	if err := f.Read(data); err != nil {
		return "", errors.Join(errDamaged, err)
	}
	return unsafe.String(&data[0], size), nil // nobody else has data
}
