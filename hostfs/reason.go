package hostfs

import (
	"errors"
	"io/fs"
	"strings"
)

// Reason is an error of a file without the file's path, for a message in which
// the path stands already.
func Reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Behind takes a name off the beginning of an error that will stand behind it.
// Nil stays nil.
func Behind(name string, err error) error {
	if err == nil {
		return nil
	}
	if rest, ok := strings.CutPrefix(err.Error(), name+": "); ok {
		return errors.New(rest)
	}
	return err
}
