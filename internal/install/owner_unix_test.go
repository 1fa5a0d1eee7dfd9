//go:build unix

package install_test

import (
	"os"
	"syscall"
	"testing"
)

func owner(t *testing.T, name string) (uid, gid int) {
	info, err := os.Stat(name)
	must(t, err)
	stat := info.Sys().(*syscall.Stat_t)
	return int(stat.Uid), int(stat.Gid)
}
