package hostfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// DraftPrefix begins the names of files that [Replace] has not finished. Whoever
// is killed meanwhile leaves one behind.
const DraftPrefix = ".draft-"

// Replace puts a new file in the place of an old one, whole or not at all, and
// waits until the disk has it. The directory must be there.
func Replace(name string, data []byte, mode fs.FileMode) (err error) {
	draft, err := os.CreateTemp(filepath.Dir(name), DraftPrefix+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(draft.Name())
		}
	}()
	_, err = draft.Write(data)
	if err = errors.Join(err, draft.Chmod(mode), draft.Sync(), draft.Close()); err != nil {
		return err
	}
	return os.Rename(draft.Name(), name)
}
