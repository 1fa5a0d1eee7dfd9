//go:build !linux && !darwin

package hostfs

import (
	"errors"
	"io/fs"
)

// A Handle is an open file or directory, which there is none of here: what looks
// at files with each call, the compiled forms, is for other systems.
type Handle struct{}

// OpenHandle is an error here.
func OpenHandle(string) (Handle, error) { return Handle{}, errors.ErrUnsupported }

// OpenFile is an error here.
func (Handle) OpenFile(string) (Handle, error) { return Handle{}, errors.ErrUnsupported }

// Stat is an error here.
func (Handle) Stat(string) (fs.FileInfo, error) { return nil, errors.ErrUnsupported }

// Read is an error here.
func (Handle) Read([]byte) error { return errors.ErrUnsupported }

// Holds reports that it cannot be told.
func (Handle) Holds(string) bool { return true }

// Close does nothing here.
func (Handle) Close() {}
