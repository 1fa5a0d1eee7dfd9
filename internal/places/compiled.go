package places

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"gate/internal/artifact"
	"gate/internal/hostfs"
)

// ErrRefused is the error of a place that has no compiled form, as long as it
// stays what it is.
var ErrRefused = errors.New("it has no compiled form")

// Compiled opens the compiled form of a place, if it has one that is of what is
// there now: maker is artifact.Maker. Any error means that the place itself has
// to be read: artifact.ErrStale and fs.ErrNotExist that compiling it anew may
// help, [ErrRefused] that it will not. Whether the directory may decide at all,
// which depends on what is above it, is for the caller to check.
func (d Dirs) Compiled(k artifact.Kind, dir, maker string) (*artifact.Artifact, error) {
	a, err := d.compiled(k, dir, maker)
	if err != nil {
		return nil, err
	}
	if err := a.Fresh(dir); err != nil {
		return nil, err
	}
	return a, Refused(a)
}

// Comparing is [Dirs.Compiled] for whoever has something to do while the place is
// compared with what the form was made of: what fresh returns, which must be
// called and closes the site, and then [Refused], would have been the error. Of a
// place that is [Site.Bare] it returns nil.
func (d Dirs) Comparing(k artifact.Kind, s *Site, maker string, processors func() int) (a *artifact.Artifact, fresh func() error, err error) {
	a, err = d.compiled(k, s.Dir, maker)
	switch {
	case (err != nil || a.Empty()) && s.Bare():
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	return a, a.Compare(s.handle, processors), nil
}

func (d Dirs) compiled(k artifact.Kind, dir, maker string) (*artifact.Artifact, error) {
	base, check := d.CompiledIn(k)
	a, err := artifact.OpenFile(base, artifact.Name(k, dir), maker, k, check)
	switch {
	case err != nil:
		return nil, err
	case a.Place() != dir:
		return nil, fmt.Errorf("%w: it was made of %s", artifact.ErrStale, a.Place())
	case a.RootOnly() && d.ManagedNamed:
		return nil, fmt.Errorf("%w: it was made for the system's managed directory", artifact.ErrStale)
	}
	return a, nil
}

// Refused is [ErrRefused] for the form of a place that has none.
func Refused(a *artifact.Artifact) error {
	if why := a.Refused(); why != "" {
		return fmt.Errorf("%w: %s", ErrRefused, why)
	}
	return nil
}

// CompiledIn says where the compiled forms of a kind of place lie, and whose they
// must be: those of the administrator's places are the administrator's.
func (d Dirs) CompiledIn(k artifact.Kind) (base string, check func(name string, info fs.FileInfo) error) {
	if k == artifact.Managed {
		owner := ManagedFiles(d)
		return d.Managed, func(name string, info fs.FileInfo) error {
			if err := owner.Check(name, info); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		}
	}
	return d.State, func(name string, info fs.FileInfo) error {
		if err := hostfs.Private(info); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
}

// ProjectPlace is the directory of a project's own hooks and settings.
func ProjectPlace(project string) string { return filepath.Join(project, ProjectDir) }
