//go:build linux || darwin

package artifact

import (
	"os"
	"syscall"
	"unsafe"
)

// mapped gives the content of a file without reading it.
func mapped(f *os.File, size int) (string, error) {
	data, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return "", &os.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	return unsafe.String(&data[0], len(data)), nil
}
