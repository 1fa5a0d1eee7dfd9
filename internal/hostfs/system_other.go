//go:build !unix

package hostfs

import (
	"io"
	"io/fs"
	"os"
)

// nonBlocking does nothing here.
const nonBlocking = 0

func severalNames(fs.FileInfo) bool { return false }

func isLink(name string) (bool, error) {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0, err
}

// Holds reports whether an open directory holds anything but one name, or
// whether that cannot be told.
func Holds(d *os.File, but string) bool {
	for {
		names, err := d.Readdirnames(2)
		for _, name := range names {
			if name != but {
				return true
			}
		}
		if err != nil {
			return err != io.EOF
		}
	}
}
