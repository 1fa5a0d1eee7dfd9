package hostfs

import (
	"context"
	"fmt"
	"os"
)

// Lock opens a file for reading and writing, with more flags of package os, and
// holds its lock until the file is closed or the process dies. A file that is
// made is this account's alone; whose one is that is there already, the caller
// must ask. It does not follow a link as the last step.
//
// It waits for others as long as ctx lasts. Nothing ends such a wait but the
// lock: where ctx ended first it goes on behind the caller's back, and lets go of
// the lock as soon as it has it.
func Lock(ctx context.Context, name string, flags int) (*Locked, error) {
	f, wait, err := tryLock(name, os.O_RDWR|flags|OpenFlags)
	if wait == nil {
		return f, err
	}
	type outcome struct {
		file *Locked
		err  error
	}
	got := make(chan outcome)
	go func() {
		f, err := wait()
		select {
		case got <- outcome{f, err}:
		case <-ctx.Done():
			if err == nil {
				f.Close()
			}
		}
	}()
	select {
	case o := <-got:
		return o.file, o.err
	case <-ctx.Done():
		return nil, fmt.Errorf("others held it too long: %w", ctx.Err())
	}
}
