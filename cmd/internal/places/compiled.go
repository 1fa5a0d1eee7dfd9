package places

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"gate/artifact"
	"gate/owned"
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
	base, check := d.CompiledIn(k)
	a, err := artifact.OpenFile(base, artifact.Name(k, dir), maker, k, check)
	if err != nil {
		return nil, err
	}
	if a.Place() != dir {
		return nil, fmt.Errorf("%w: it was made of %s", artifact.ErrStale, a.Place())
	}
	if err := a.Fresh(dir); err != nil {
		return nil, err
	}
	if why := a.Refused(); why != "" {
		return nil, fmt.Errorf("%w: %s", ErrRefused, why)
	}
	return a, nil
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
		if err := owned.Private(info); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
}

// ProjectPlace is the directory of a project's own hooks and settings.
func ProjectPlace(project string) string { return filepath.Join(project, ProjectDir) }
