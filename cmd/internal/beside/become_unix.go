//go:build unix

package beside

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// replace makes another program of this process. It returns only with an error.
func replace(program string, args []string, event []byte) error {
	if event != nil {
		if err := putBack(event); err != nil {
			return err
		}
	}
	return syscall.Exec(program, args, os.Environ())
}

// putBack puts the event back on standard input: a file without a name, for a
// pipe holds less than the largest event.
func putBack(event []byte) error {
	f, err := nameless()
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(event); err != nil {
		return err
	}
	if _, err := f.Seek(0, 0); err != nil {
		return err
	}
	return unix.Dup2(int(f.Fd()), 0)
}

// nameless makes a file that nobody else can open.
func nameless() (*os.File, error) {
	if f := inMemory(); f != nil {
		return f, nil
	}
	f, err := os.CreateTemp("", "gate-hook-*")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
