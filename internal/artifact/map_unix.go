//go:build linux || darwin

package artifact

import (
	"os"
	"syscall"
	"unsafe"

	"gate/internal/hostfs"
)

// mapped gives the content of a file without reading it.
func mapped(f hostfs.Handle, size int) (string, error) {
	data, err := syscall.Mmap(f.FD(), 0, size, syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return "", os.NewSyscallError("mmap", err)
	}
	return unsafe.String(&data[0], len(data)), nil
}
