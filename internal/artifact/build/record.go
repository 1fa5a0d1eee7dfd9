package build

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"gate/internal/artifact"
)

// A recorder is a place that notes what is looked at before it is. The
// directories above a name are noted with it: who adds or removes a file moves
// the change time of the directory, so that names which lead nowhere need no
// stamp of their own.
type recorder struct {
	place   Place
	began   time.Time
	look    func(name string) (artifact.Stamp, error)
	seen    map[string]artifact.Stamp
	err     error // why something could not be noted
	refused error // something is there that stamps cannot tell about
}

func newRecorder(p Place, began time.Time) *recorder {
	return &recorder{place: p, began: began, look: artifact.Look(p.Dir), seen: map[string]artifact.Stamp{}}
}

// begin notes the place itself, which must be a directory and no link.
func (r *recorder) begin() error {
	r.note(".")
	if err := errors.Join(r.err, r.refused); err != nil {
		return err
	}
	if s, ok := r.seen["."]; !ok || !s.Mode.IsDir() {
		return fmt.Errorf("%s: not a directory", r.place.Dir)
	}
	return nil
}

func (r *recorder) note(name string) {
	if r.err != nil || !fs.ValidPath(name) {
		return
	}
	if _, ok := r.seen[name]; ok {
		return
	}
	if name != "." {
		above := path.Dir(name)
		r.note(above)
		if s, ok := r.seen[above]; !ok || !s.Mode.IsDir() {
			return // nothing can be there
		}
	}
	s, err := r.look(name)
	switch {
	case err != nil:
		r.err = err
	case s.Missing:
	case !s.Settled(r.began):
		r.err = unsettled(path.Join(r.place.Dir, name))
	default:
		r.seen[name] = s
		if s.Mode&fs.ModeSymlink != 0 && r.refused == nil {
			r.refused = fmt.Errorf("%s is a symbolic link", path.Join(r.place.Dir, name))
		}
	}
}

// end looks at everything again and returns the stamps in the order of their
// names, if nothing has changed since it was noted, and nothing can have changed
// without being noticed.
func (r *recorder) end() ([]artifact.Stamp, error) {
	if r.err != nil {
		return nil, r.err
	}
	if err := sameDir(r.place.Files, r.place.Dir); err != nil {
		return nil, err
	}
	var list []artifact.Stamp
	for _, name := range slices.Sorted(maps.Keys(r.seen)) {
		was := r.seen[name]
		now, err := r.look(name)
		if err != nil {
			return nil, err
		}
		if now != was {
			return nil, unsettled(path.Join(r.place.Dir, name))
		}
		list = append(list, was)
	}
	return list, nil
}

func unsettled(path string) error { return fmt.Errorf("%w: %s", ErrUnsettled, path) }

// Open implements [fs.FS]. It opens nothing more once no form can come of it.
func (r *recorder) Open(name string) (fs.File, error) {
	if r.note(name); r.err != nil {
		return nil, r.err
	}
	return r.place.Files.Open(name)
}

// Lstat implements [fs.ReadLinkFS].
func (r *recorder) Lstat(name string) (fs.FileInfo, error) {
	r.note(name)
	return fs.Lstat(r.place.Files, name)
}

// ReadLink implements [fs.ReadLinkFS].
func (r *recorder) ReadLink(name string) (string, error) {
	r.note(name)
	return fs.ReadLink(r.place.Files, name)
}
