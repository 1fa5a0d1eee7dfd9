//go:build linux || darwin

package artifact

import (
	"errors"
	"io/fs"
	"syscall"
)

// Look returns the function that stamps what lies below a directory. It follows
// no link at the end of a name.
func Look(dir string) func(name string) (Stamp, error) {
	return func(name string) (Stamp, error) {
		path := dir
		if name != "." {
			path += "/" + name
		}
		var st syscall.Stat_t
		err := syscall.Lstat(path, &st)
		for err == syscall.EINTR {
			err = syscall.Lstat(path, &st)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return Stamp{Name: name, Missing: true}, nil
		}
		if err != nil {
			return Stamp{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
		}
		s := Stamp{
			Name: name, Mode: modeOf(uint32(st.Mode)), Device: uint64(st.Dev), Inode: st.Ino, UID: st.Uid, GID: st.Gid,
		}
		s.Modified, s.Changed = timesOf(&st)
		if s.Mode&fs.ModeDir == 0 {
			s.Size = st.Size
		}
		return s, nil
	}
}

// modeOf keeps what decides who may do what with a file, and which kind it is.
// Kinds that no place may hold are all the same.
func modeOf(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o7777)
	switch mode & syscall.S_IFMT {
	case syscall.S_IFREG:
	case syscall.S_IFDIR:
		m |= fs.ModeDir
	case syscall.S_IFLNK:
		m |= fs.ModeSymlink
	default:
		m |= fs.ModeIrregular
	}
	return m
}
