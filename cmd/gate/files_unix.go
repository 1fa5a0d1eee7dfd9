//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// nonBlocking keeps the opening of a FIFO from waiting for its writer.
const nonBlocking = syscall.O_NONBLOCK

// ownedBy returns a check that lets files of the given accounts through which
// nobody else may write (threat model 55).
func ownedBy(whose string, uids ...int) func(fs.FileInfo) error {
	return func(info fs.FileInfo) error {
		if info.Mode().Perm()&0o022 != 0 {
			return fmt.Errorf("group or others may write it (mode %#o); %s must not be", info.Mode().Perm(), whose)
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return errors.New("its owner is unknown")
		}
		for _, uid := range uids {
			if int(stat.Uid) == uid {
				return nil
			}
		}
		return fmt.Errorf("it belongs to user %d; %s must not", stat.Uid, whose)
	}
}
