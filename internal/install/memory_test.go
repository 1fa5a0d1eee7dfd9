package install_test

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing/fstest"

	"gate/internal/install"
)

// memory is a file system in memory: fast enough for thousands of cases.
type memory struct{ files fstest.MapFS }

func newMemory() *memory {
	return &memory{fstest.MapFS{
		"home/.claude": {Mode: fs.ModeDir | 0o755}, "bin/gate": {Data: []byte("a program"), Mode: 0o755}, "bin": {Mode: fs.ModeDir | 0o755},
		"home": {Mode: fs.ModeDir | 0o755},
	}}
}

// machine lives in the memory.
func (s *memory) machine() install.Machine {
	return install.Machine{
		OS: "linux", Home: "/home", Command: []string{"/bin/gate", "hook"}, UserDir: "/home/.config/gate", StateDir: "/home/.local/state/gate",
		UID: -1, System: s,
	}
}

const memorySettings = "home/.claude/settings.json"

func (s *memory) put(text []byte) { s.files[memorySettings] = &fstest.MapFile{Data: text, Mode: 0o644} }

// text returns the settings, nil if there are none.
func (s *memory) text() []byte {
	if f := s.files[memorySettings]; f != nil {
		return append([]byte{}, f.Data...)
	}
	return nil
}

func key(name string) string { return strings.TrimPrefix(path.Clean(name), "/") }

func (s *memory) Lstat(name string) (fs.FileInfo, error) {
	if key(name) == "" {
		name = "."
	}
	info, err := s.files.Stat(key(name))
	if err == nil && s.files[key(name)] == nil && key(name) != "." { // MapFS makes up parents
		return nil, fs.ErrNotExist
	}
	return info, err
}
func (s *memory) Readlink(string) (string, error) { return "", fs.ErrInvalid }
func (s *memory) ReadFile(name string, _ int) ([]byte, error) {
	data, err := s.files.ReadFile(key(name))
	return bytes.Clone(data), err
}

func (s *memory) ReadDir(name string) ([]fs.DirEntry, error) { return s.files.ReadDir(key(name)) }
func (s *memory) Mkdir(name string, mode fs.FileMode) error {
	s.files[key(name)] = &fstest.MapFile{Mode: fs.ModeDir | mode}
	return nil
}
func (s *memory) Chmod(string, fs.FileMode) error { return nil }
func (s *memory) SyncDir(string) error            { return nil }
func (s *memory) Rename(from, to string) error {
	s.files[key(to)] = s.files[key(from)]
	delete(s.files, key(from))
	return nil
}

func (s *memory) Remove(name string) error {
	if s.files[key(name)] == nil {
		return fs.ErrNotExist
	}
	delete(s.files, key(name))
	return nil
}

func (s *memory) Create(name string) (install.File, error) {
	if s.files[key(name)] != nil {
		return nil, fs.ErrExist
	}
	f := &fstest.MapFile{Mode: 0o600}
	s.files[key(name)] = f
	return memoryFile{f}, nil
}

func (s *memory) names() []string { return slices.Sorted(maps.Keys(s.files)) }

type memoryFile struct{ *fstest.MapFile }

func (f memoryFile) Write(p []byte) (int, error) {
	f.Data = append(f.Data, p...)
	return len(p), nil
}
func (f memoryFile) Chmod(mode fs.FileMode) error { f.Mode = mode; return nil }
func (f memoryFile) Chown(int, int) error         { return errors.ErrUnsupported }
func (f memoryFile) Sync() error                  { return nil }
func (f memoryFile) Close() error                 { return nil }
