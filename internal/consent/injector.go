package consent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gate/internal/hostfs"
)

// An Injector is a directory in which a program, such as one that directs several
// agents, leaves texts for the agents that work in one project.
type Injector struct {
	Dir     string // absolute, without symbolic links
	Project string // its root: absolute, without symbolic links
	By      string // the account
	At      time.Time
}

// InjectorOf returns the injector of a directory and a project that exist. Symbolic
// links are followed now. No texts are taken from the project itself: a clone brings its
// files along, and agents write there.
func InjectorOf(dir, project string) (Injector, error) {
	var in Injector
	for _, way := range []struct {
		to   *string
		name string
	}{{&in.Dir, dir}, {&in.Project, project}} {
		if !filepath.IsAbs(way.name) {
			return in, fmt.Errorf("%q is not an absolute path", clip(way.name))
		}
		real, err := filepath.EvalSymlinks(way.name)
		if err != nil {
			return in, fmt.Errorf("%s: %w", way.name, hostfs.Reason(err))
		}
		*way.to = filepath.Clean(real)
	}
	return in, errors.Join(in.check(), in.Holds())
}

func (in Injector) check() error {
	for _, dir := range []string{in.Dir, in.Project} {
		if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
			return fmt.Errorf("%q is not a clean absolute path", clip(dir))
		}
	}
	if within(in.Project, in.Dir) {
		return fmt.Errorf("%s lies in the project %s, where agents and whoever changes the project can write; take a directory outside of it", in.Dir, in.Project)
	}
	return nil
}

// within reports a path that is a directory or lies below it.
func within(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Holds says why the directory is not what was granted any more: it is gone, a link, or
// others than this account may write there.
func (in Injector) Holds() error {
	info, err := os.Lstat(in.Dir)
	if err == nil {
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			err = errors.New("it is a symbolic link now")
		case !info.IsDir():
			err = errors.New("it is not a directory")
		default:
			err = errors.Join(hostfs.Own(info), hostfs.Steady(info))
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", in.Dir, hostfs.Reason(err))
	}
	return nil
}

// file is the name of its record.
func (in Injector) file() string { return tie("injector", in.Dir, in.Project) }

// GrantInjector records that a person lets a program tell agents something.
func (s Store) GrantInjector(w *Witness, in Injector) error {
	by, at, err := w.Take()
	if err != nil {
		return err
	}
	if err := in.check(); err != nil {
		return err
	}
	root, err := s.open(true)
	if err != nil {
		return err
	}
	defer root.Close()
	in.By, in.At = by, at
	return s.write(root, injectorDir, in.file(), in.encode())
}

// Injectors lists what was granted. Records that are broken are in the error, joined;
// the others hold. Where nothing was ever granted it costs one look.
func (s Store) Injectors() ([]Injector, error) {
	if !filepath.IsAbs(s.Dir) || hostfs.Missing(filepath.Join(s.Dir, injectorDir)) {
		return nil, nil
	}
	return list(s, injectorDir, isDigest, func(root *os.Root, name string) (Injector, error) {
		return readRecord(s, root, injectorDir, name, decodeInjector, func(in Injector) error {
			return sameName(in.file(), name, "directory")
		})
	})
}

// RevokeInjector takes the grant back. It needs nobody: it only tightens.
func (s Store) RevokeInjector(in Injector) error { return s.forget(injectorDir, in.file()) }

func (in Injector) encode() []byte {
	return seal("injector", map[string]any{"dir": in.Dir, "project": in.Project, "by": in.By, "at": stamp(in.At)})
}

func decodeInjector(data []byte) (Injector, error) {
	f, err := unseal("injector", data)
	if err != nil {
		return Injector{}, err
	}
	in := Injector{Dir: f.text("dir"), Project: f.text("project"), By: f.text("by"), At: f.time("at")}
	return in, errors.Join(f.done(), in.check())
}
