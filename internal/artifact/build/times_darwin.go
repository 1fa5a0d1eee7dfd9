package build

import (
	"fmt"
	"syscall"
)

// mntLocal is MNT_LOCAL of sys/mount.h.
const mntLocal = 0x1000

// exactTimes reports why stamps of a directory do not tell whether it changed:
// it does not lie on a disk of this machine.
func exactTimes(dir string) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if st.Flags&mntLocal == 0 {
		return fmt.Errorf("%s: files may change there without gate being able to tell: it is on another machine", dir)
	}
	return nil
}
