//go:build !unix

package hostfs

import (
	"io/fs"
	"time"
)

// OpenFlags are none: there are no FIFOs among the files, and links need rights
// of their own.
const OpenFlags = 0

// Own, Closed and Steady have nothing to go by here: the access list of the
// account's directory is the protection.
func Own(fs.FileInfo) error { return nil }

func changedAt(fs.FileInfo) time.Time { return time.Time{} }

func Closed(fs.FileInfo) bool { return true }

func Steady(fs.FileInfo) error { return nil }
