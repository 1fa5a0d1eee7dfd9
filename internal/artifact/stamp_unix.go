//go:build linux || darwin

package artifact

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"

	"gate/internal/hostfs"
)

// Look returns the function that stamps what lies below a directory. It follows
// no link at the end of a name.
func Look(dir string) func(name string) (Stamp, error) {
	return func(name string) (Stamp, error) {
		path := dir
		if name != "." {
			path += "/" + name
		}
		return stampAt(unix.AT_FDCWD, path, name)
	}
}

// A view looks at what lies below an open directory, which is no link itself.
// The way to the directory, which may be long, is gone once. Goroutines may share
// it until it is closed.
type view struct{ fd int }

func openView(dir string) (view, error) { return openAt(unix.AT_FDCWD, dir) }

func viewOf(dir hostfs.Handle) view { return view{dir.FD()} }

// below opens a directory below, by a name with a zero byte behind it.
func (v view) below(name string) (view, error) { return openAt(v.fd, plain(name)) }

func openAt(at int, dir string) (view, error) {
	fd, err := unix.Openat(at, dir, openDir|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	for err == unix.EINTR {
		fd, err = unix.Openat(at, dir, openDir|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return view{}, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	return view{fd}, nil
}

func (v view) close() { unix.Close(v.fd) }

// lookAt makes the record of a name with a zero byte behind it.
func (v view) lookAt(name string) (record, error) {
	s, err := stampAt(v.fd, plain(name), "")
	return s.record(), err
}

// stampAt stamps a path, which starts from an open directory unless it is
// absolute. A name that nothing has is no error.
func stampAt(dir int, path, name string) (Stamp, error) {
	var st unix.Stat_t
	err := unix.Fstatat(dir, path, &st, unix.AT_SYMLINK_NOFOLLOW)
	for err == unix.EINTR {
		err = unix.Fstatat(dir, path, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Stamp{Name: name, Missing: true}, nil
	}
	if err != nil {
		return Stamp{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	s := Stamp{
		Name: name, Mode: modeOf(uint32(st.Mode)), Device: uint64(st.Dev), Inode: st.Ino, UID: st.Uid, GID: st.Gid,
		Modified: st.Mtim.Nano(), Changed: st.Ctim.Nano(),
	}
	if s.Mode&fs.ModeDir == 0 {
		s.Size = st.Size
	}
	return s, nil
}

// modeOf keeps what decides who may do what with a file, and which kind it is.
// Kinds that no place may hold are all the same.
func modeOf(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o7777)
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		m |= fs.ModeDir
	case unix.S_IFLNK:
		m |= fs.ModeSymlink
	default:
		m |= fs.ModeIrregular
	}
	return m
}
