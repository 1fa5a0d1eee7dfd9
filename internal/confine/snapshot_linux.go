package confine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// A snapshot has marks, by path, of files that start by themselves or steer agents, that
// nothing holds, and that were there before a program began. A file that a program
// changes, makes or moves there differs from it afterwards, whatever times the program
// sets.
type snapshot map[string]string

// look makes a snapshot.
func (l *layout) look() snapshot {
	a := &aftermath{layout: l, before: snapshot{}, notes: true}
	for _, dir := range l.changeable() {
		a.search(dir, true)
	}
	return a.before
}

// mostMarked is how much of a file's content counts. Of a longer one its size and its last
// change do.
const mostMarked = 1 << 20

// markOf tells a file from the one that stood at its path before: by content and by whether
// it can be run. It tells a symbolic link by where it leads, and any other thing by itself.
// It is "" for what is not there.
func markOf(name string) string {
	var s unix.Stat_t
	switch err := unix.Lstat(name, &s); {
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR):
		return ""
	case err != nil:
		return "?" // it is there, and nobody can look
	}
	kind := s.Mode & unix.S_IFMT
	switch {
	case kind == unix.S_IFLNK:
		to, _ := os.Readlink(name)
		return "l" + to
	case kind == unix.S_IFREG && s.Size <= mostMarked:
		if text, err := contentOf(name); err == nil {
			sum := sha256.Sum256(text)
			return fmt.Sprintf("f%o %s", s.Mode&0o111, hex.EncodeToString(sum[:16]))
		}
		fallthrough
	case kind == unix.S_IFREG:
		return fmt.Sprintf("f%o %d %d %d", s.Mode&0o111, s.Ino, s.Size, s.Ctim.Nano())
	}
	return fmt.Sprintf("%o %d %d", kind, s.Dev, s.Ino)
}

// contentOf reads a file, by no symbolic link, and never waits for one that is a pipe.
func contentOf(name string) ([]byte, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), name)
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, mostMarked+1))
}
