//go:build !unix

package hostfs

import (
	"io/fs"
	"os"
)

// nonBlocking does nothing here.
const nonBlocking = 0

func isLink(name string) (bool, error) {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0, err
}
