package install

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gate/internal/hostfs"
)

// A System is the file system that a [Machine] lives in. Names are absolute.
// [Host] is the real one; tests wrap it to fail where they like.
type System interface {
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
	// ReadFile returns a regular file of at most limit bytes, and an error
	// for anything else.
	ReadFile(name string, limit int) ([]byte, error)
	ReadDir(name string) ([]fs.DirEntry, error)

	Mkdir(name string, mode fs.FileMode) error
	// Create makes a file that was not there.
	Create(name string) (File, error)
	Chmod(name string, mode fs.FileMode) error
	Rename(from, to string) error
	// Remove takes a file or an empty directory away.
	Remove(name string) error
	// SyncDir makes renames in a directory last.
	SyncDir(name string) error
}

// A File is a new file that is being written.
type File interface {
	io.WriteCloser
	Chmod(mode fs.FileMode) error
	Chown(uid, gid int) error
	Sync() error
}

func (m Machine) system() System {
	if m.System == nil {
		return Host{}
	}
	return m.System
}

// Host is the file system of this machine.
type Host struct{}

func (Host) Lstat(name string) (fs.FileInfo, error)     { return os.Lstat(name) }
func (Host) Readlink(name string) (string, error)       { return os.Readlink(name) }
func (Host) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (Host) Mkdir(name string, mode fs.FileMode) error  { return os.Mkdir(name, mode) }
func (Host) Chmod(name string, mode fs.FileMode) error  { return os.Chmod(name, mode) }
func (Host) Rename(from, to string) error               { return os.Rename(from, to) }
func (Host) Remove(name string) error                   { return os.Remove(name) }
func (Host) SyncDir(name string) error                  { return syncDir(name) }

func (Host) Create(name string) (File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (Host) ReadFile(name string, limit int) ([]byte, error) {
	data, err := hostfs.Files{}.ReadFile(filepath.ToSlash(name), limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, hostfs.Reason(err))
	}
	return data, nil
}

const maxLinks = 40

// real follows every symbolic link in name, as far as it exists.
func (m Machine) real(name string) (string, error) {
	real, _, err := m.follow(name)
	return real, err
}

// follow also returns the directories that links on the way lie in, themselves real:
// whoever may write one of them can have name lead to something else.
func (m Machine) follow(name string) (real string, dirs []string, err error) {
	sys, hops := m.system(), 0
	volume := filepath.VolumeName(name)
	done, todo := volume+string(filepath.Separator), split(name[len(volume):])
	for len(todo) > 0 {
		step := todo[0]
		todo = todo[1:]
		if step == ".." {
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, step)
		info, err := sys.Lstat(next)
		if errors.Is(err, fs.ErrNotExist) {
			return filepath.Join(append([]string{next}, todo...)...), dirs, nil
		}
		if err != nil {
			return "", nil, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		target, err := sys.Readlink(next)
		if err != nil {
			return "", nil, err
		}
		if hops++; hops > maxLinks {
			return "", nil, fmt.Errorf("%s: too many symbolic links", name)
		}
		dirs = append(dirs, done)
		if v := filepath.VolumeName(target); filepath.IsAbs(target) {
			done, target = v+string(filepath.Separator), target[len(v):]
		}
		todo = append(split(target), todo...)
	}
	return done, dirs, nil
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return os.IsPathSeparator(uint8(r)) && r < 0x80 })
}

// stat looks at what name leads to.
func (m Machine) stat(name string) (fs.FileInfo, error) {
	real, err := m.real(name)
	if err != nil {
		return nil, err
	}
	return m.system().Lstat(real)
}

// inside reports whether path is dir or below it. Both are clean and real.
func inside(path, dir string) bool {
	if dir == "" {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
