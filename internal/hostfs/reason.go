package hostfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Reason is an error of a file without the file's path, for a message in which
// the path stands already. Nil stays nil.
func Reason(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return Reason(p.Err)
	case errors.As(err, &l):
		return Reason(l.Err)
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

// At puts what is wrong with a file behind the name that a person gave it. Nil
// stays nil.
func At(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", path, Reason(err))
}
