package build

import (
	"fmt"
	"slices"
	"syscall"
)

// exact are the file systems of Linux, by their magic numbers, on which the
// change time of a file is what the kernel of this very machine says, and a look
// at it is never answered from memory: ext2 to ext4, XFS, Btrfs, tmpfs, overlay,
// F2FS, ZFS, bcachefs, ramfs. On others another machine may write.
var exact = []int64{0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x858458f6}

// exactTimes reports why stamps of a directory do not tell whether it changed.
func exactTimes(dir string) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if !slices.Contains(exact, int64(uint32(st.Type))) {
		return fmt.Errorf("%s: files may change there without gate being able to tell (file system %#x)", dir, uint32(st.Type))
	}
	return nil
}
