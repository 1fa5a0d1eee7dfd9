//go:build unix

package hostfs

import (
	"io/fs"
	"syscall"
)

// OwnerOf returns the owner of a file that package os describes.
func OwnerOf(info fs.FileInfo) Owner {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Owner{}
	}
	return Owner{UID: int(stat.Uid), GID: int(stat.Gid), Known: true}
}
