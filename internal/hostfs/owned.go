package hostfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Private reports why a file or directory is not this account's alone: somebody
// else owns it or may use it, or it has a second name. Where a system's files
// have no owner and mode, nil: there the access list of the account's directory
// is the protection.
func Private(info fs.FileInfo) error {
	if err := Own(info); err != nil {
		return err
	}
	if !Closed(info) {
		return fmt.Errorf("group or others may use it (mode %#o)", info.Mode().Perm())
	}
	return nil
}

var errUnknown = errors.New("its owner is unknown")

// ReadFile reads a file below root that is this account's alone, of at most a
// number of bytes. It never follows a link as its last step and never waits, and
// what it checked is what it reads.
func ReadFile(root *os.Root, name string, most int) ([]byte, error) {
	for try := 0; ; try++ {
		data, err := readOnce(root, name, most)
		if err != errReplaced || try == 10 {
			return data, err
		}
	}
}

var errReplaced = errors.New("it was replaced while it was opened")

func readOnce(root *os.Root, name string, most int) ([]byte, error) {
	found, err := root.Lstat(name)
	if err == nil {
		err = plain(found)
	}
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|OpenFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = plain(info)
	}
	if err == nil && !os.SameFile(found, info) {
		err = errReplaced
	}
	if err != nil {
		return nil, err
	}
	data, err := readSized(f, info.Size(), most)
	if err == TooLarge(most) {
		err = fmt.Errorf("it is %w", err)
	}
	return data, err
}

// plain reports why something is no regular file of this account's alone.
func plain(info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return errors.New("it is a symbolic link")
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	}
	return Private(info)
}

// Changed is when a file's content or attributes changed last, which no program can set;
// zero where nobody knows, such as on Windows. A file of a machine that is not this one
// says so by a method of the same name.
func Changed(info fs.FileInfo) time.Time {
	if said, ok := info.(interface{ Changed() time.Time }); ok {
		return said.Changed()
	}
	return changedAt(info)
}
