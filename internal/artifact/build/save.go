package build

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gate/internal/artifact"
	"gate/internal/hostfs"
)

// Save writes a form into [artifact.Dir] below base, which is the state directory
// or the managed one, in the place of an older one, whole or not at all. What is
// below the state directory is for nobody else; the rest anybody may read.
func Save(base, name string, c *artifact.Content) error {
	data, err := artifact.Encode(c)
	if err != nil {
		return err
	}
	if err := Prepare(base, c.Kind); err != nil {
		return err
	}
	_, mode := modes(c.Kind)
	return hostfs.Replace(filepath.Join(base, artifact.Dir, name), data, mode)
}

// Prepare makes the directory that [Save] writes into. Where base is the place
// itself, that must be there before the place is looked at.
func Prepare(base string, k artifact.Kind) error {
	mode, _ := modes(k)
	return os.MkdirAll(filepath.Join(base, artifact.Dir), mode)
}

func modes(k artifact.Kind) (dir, file fs.FileMode) {
	if k == artifact.Managed {
		return 0o755, 0o644
	}
	return 0o700, 0o600
}

// Limits of what is kept.
const (
	maxDraft = time.Hour // how long a draft may be of use to somebody
	maxKept  = 200       // forms of places that may not be in use any more
)

// Clean removes from [artifact.Dir] below base what nobody will use: forms of
// directories that are gone, forms that another version of the program made, all
// that is damaged, drafts that were left behind, and of the rest the oldest
// beyond 200. keep says which names stay in any case.
func Clean(base, maker string, now time.Time, keep ...string) error {
	dir := filepath.Join(base, artifact.Dir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var errs []error
	type kept struct {
		name string
		at   time.Time
	}
	in, oerr := hostfs.OpenHandle(dir)
	if oerr != nil {
		return errors.Join(err, oerr)
	}
	defer in.Close()
	var rest []kept
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || slices.Contains(keep, e.Name()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), hostfs.DraftPrefix):
			if now.Sub(info.ModTime()) > maxDraft {
				errs = append(errs, os.Remove(path))
			}
		case !strings.HasSuffix(e.Name(), artifact.Suffix):
		case info.Mode().IsRegular() && inUse(in, e.Name(), maker):
			rest = append(rest, kept{e.Name(), info.ModTime()})
		default:
			errs = append(errs, os.Remove(path))
		}
	}
	slices.SortFunc(rest, func(a, b kept) int { return b.at.Compare(a.at) })
	for _, k := range rest[min(len(rest), maxKept):] {
		errs = append(errs, os.Remove(filepath.Join(dir, k.name)))
	}
	return errors.Join(append(errs, err)...)
}

// inUse reports a form that a program of this version may still use.
func inUse(in hostfs.Handle, name, maker string) bool {
	_, place, err := artifact.Peek(in, name, maker)
	if err != nil {
		return false
	}
	_, err = os.Lstat(place)
	return !errors.Is(err, fs.ErrNotExist)
}
