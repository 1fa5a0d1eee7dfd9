package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// A file is one configuration file as it was found.
type file struct {
	path string // real
	text []byte // nil: there is none
	info fs.FileInfo
}

// open reads a file that is about to be edited.
func (m Machine) open(path string) (file, error) {
	real, err := m.real(path)
	if err != nil {
		return file{}, err
	}
	f := file{path: real}
	f.info, err = m.system().Lstat(real)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	if f.text, err = m.system().ReadFile(real, maxFile); err != nil {
		return f, err
	}
	if f.text == nil {
		f.text = []byte{}
	}
	return f, nil
}

// checkPlace refuses links between what the agent may write and what it may
// not.
func (m Machine) checkPlace(path string, s Scope) error {
	real, err := m.real(path)
	if err != nil {
		return err
	}
	if s == Managed {
		return m.checkStraight(path, real)
	}
	if m.Project == "" {
		return nil
	}
	project, err := m.real(m.Project)
	if err != nil {
		return err
	}
	switch s {
	case Project, Local:
		if !inside(real, project) {
			return fmt.Errorf("%s: it is a link out of the project, to %s; install there, or replace the link by a file", path, real)
		}
	case User:
		if inside(real, project) && !inside(path, m.Project) && !inside(path, project) {
			return fmt.Errorf("%s: it is a link into the project, to %s, where the agent writes; replace it by a file", path, real)
		}
	}
	return nil
}

// checkStraight refuses links below the system's directory.
func (m Machine) checkStraight(path, real string) error {
	system := m.systemDir(path)
	dir, err := m.real(system)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(system, path)
	if err == nil && filepath.Join(dir, rel) != real {
		err = fmt.Errorf("%s: it is a symbolic link, to %s; managed settings must lie where they seem to", path, real)
	}
	return err
}

// add adds what makes text out of f.
func (p *Plan) add(m Machine, f file, text []byte, s Scope) {
	c := Change{Path: f.path, Before: f.text, After: text, old: f.info, mkdir: 0o755, Mode: 0o644}
	switch {
	case f.text == nil && text == nil, f.text != nil && text != nil && bytes.Equal(f.text, text):
		return
	case f.text == nil:
		c.Action = Create
		if s == User || s == Local {
			c.Mode = 0o600
			c.mkdir = 0o700
		}
	case text == nil:
		c.Action = Remove
		c.prune = m.above(s, f.path)
	default:
		c.Action = Update
		c.Mode = f.info.Mode()
	}
	p.Changes = append(p.Changes, c)
}

// above is the directory that outlives an uninstallation.
func (m Machine) above(s Scope, path string) string {
	dir := m.Home
	switch s {
	case Project, Local:
		dir = m.Project
	case Managed:
		dir = m.systemDir(path)
	}
	if real, err := m.real(dir); err == nil {
		return real
	}
	return dir
}

// systemDir is where the system keeps programs' configuration, of several the
// directory that path is in.
func (m Machine) systemDir(path string) string {
	switch m.OS {
	case "darwin":
		return filepath.Join(m.root(), "Library", "Application Support")
	case "windows":
		if data := filepath.Join(m.root(), "ProgramData"); inside(path, data) {
			return data
		}
		return filepath.Join(m.root(), "Program Files")
	}
	return filepath.Join(m.root(), "etc")
}

func (m Machine) root() string {
	switch {
	case m.Root != "":
		return m.Root
	case m.OS == "windows":
		return `C:\`
	}
	return "/"
}

// executable lets whoever may read f, which the plan may change already, run it.
func (p *Plan) executable(f file) {
	runs := func(mode fs.FileMode) fs.FileMode { return mode | mode&0o444>>2 }
	if n := len(p.Changes) - 1; n >= 0 && p.Changes[n].Path == f.path {
		p.Changes[n].Mode = runs(p.Changes[n].Mode)
	} else if mode := f.info.Mode(); runs(mode) != mode {
		p.Changes = append(p.Changes, Change{Action: Chmod, Path: f.path, Mode: runs(mode), old: f.info})
	}
}
