package install

import (
	"errors"
	"path/filepath"
	"slices"
)

// ErrScope is the error of an agent that has no such scope, as opposed to one whose
// files say something that gate would not work with.
var ErrScope = errors.New("no such scope")

// A Found is an agent that there are signs of on the machine.
type Found struct {
	Agent string
	Sign  string // a path that shows it: a program of PATH, a directory, a file with gate's entries
}

// Found lists the agents that there are signs of, in alphabetical order: a program in a
// directory of PATH, a directory of its own in the home directory, or entries of gate's.
func (m Machine) Found() []Found {
	var out []Found
	for _, a := range agents() {
		if sign := m.sign(a); sign != "" {
			out = append(out, Found{a.name(), sign})
		}
	}
	return out
}

func (m Machine) sign(a agent) string {
	programs, dirs := a.signs(m)
	for _, name := range programs {
		if m.OS == "windows" {
			name += ".*" // .exe, or .cmd of npm's
		}
		for _, dir := range m.Path {
			if path := m.runnable(dir, name); path != "" {
				return path
			}
		}
	}
	for _, dir := range dirs {
		if info, err := m.stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	for _, g := range m.look(a).Guards {
		if g.Installed {
			return g.File
		}
	}
	return ""
}

// runnable is a program of a directory whose name matches, "" for none.
func (m Machine) runnable(dir, pattern string) string {
	names := []string{pattern}
	if m.OS == "windows" {
		names = nil
		entries, _ := m.system().ReadDir(dir)
		for _, e := range entries {
			if ok, err := filepath.Match(pattern, e.Name()); ok && err == nil {
				names = append(names, e.Name())
			}
		}
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := m.stat(path); err == nil && info.Mode().IsRegular() && (m.OS == "windows" || info.Mode()&0o111 != 0) {
			return path
		}
	}
	return ""
}

func (c claude) signs(m Machine) (programs, dirs []string) {
	if dir := c.dir(m); dir != "" {
		dirs = append(dirs, dir)
	}
	for _, client := range c.clients(m) {
		dirs = append(dirs, filepath.Dir(client.File))
	}
	return []string{"claude"}, dirs
}

func (t *table) signs(m Machine) (programs, dirs []string) {
	if dir := t.dir(m); dir != "" && t.home != "" {
		dirs = append(dirs, dir)
	}
	if m.Home != "" {
		for _, dir := range t.traces {
			dirs = append(dirs, filepath.Join(m.Home, filepath.FromSlash(dir)))
		}
	}
	return slices.Concat([]string{t.id}, t.programs), dirs
}
