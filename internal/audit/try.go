package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"gate/internal/hostfs"
)

// tryRoom is the room that a log has to have: more than most records take.
const tryRoom = 16 << 10

// Try says why [Append] would not add a record to the log in dir, nil if it would
// or if the directory is not there yet. Records are not touched: that there is
// room shows in a file that is gone again afterwards.
func Try(dir string) error {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := prepare(dir); err != nil {
		return fmt.Errorf("%s: %w", dir, hostfs.Reason(err))
	}
	headPath := filepath.Join(dir, headName)
	head, err := lockHead(headPath, os.O_CREATE, 5*time.Second)
	if err != nil {
		return fmt.Errorf("%s: %w", headPath, hostfs.Reason(err))
	}
	defer head.Close()
	l := &log{dir: dir, path: filepath.Join(dir, FileName)}
	if err = l.open(); err == nil {
		err = errors.Join(l.file.Close(), room(dir))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", l.path, hostfs.Reason(err))
	}
	return nil
}

// room writes as much as a record may take, and removes it.
func room(dir string) error {
	f, err := os.CreateTemp(dir, hostfs.DraftPrefix+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, tryRoom))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}
