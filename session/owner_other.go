//go:build !unix

package session

import "io/fs"

const openFlags = 0

// private and steady have nothing to go by here: the access list of the user's
// directory is the protection.
func private(fs.FileInfo) error { return nil }

func steady(fs.FileInfo) error { return nil }
