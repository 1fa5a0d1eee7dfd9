package beside

import (
	"os"

	"golang.org/x/sys/unix"
)

// inMemory makes a file in memory; nil where the system makes none.
func inMemory() *os.File {
	for _, flags := range []int{unix.MFD_CLOEXEC | unix.MFD_NOEXEC_SEAL, unix.MFD_CLOEXEC} { // kernels before 6.3 do not know the seal
		if fd, err := unix.MemfdCreate("event", flags); err == nil {
			return os.NewFile(uintptr(fd), "event")
		}
	}
	return nil
}
