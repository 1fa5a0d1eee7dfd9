// Package owned says whether a file or directory belongs to the account that
// gate runs as, and to nobody else.
//
// It is for what gate itself keeps: the decision log, what a person granted, the
// memory of sessions. It opens nothing and repairs nothing; whoever asks must
// ask about what was opened, not about a name. It is not for settings and
// policies, which root may own, too: load.Ownership is. Start with Private.
package owned

import (
	"errors"
	"fmt"
	"io/fs"
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
