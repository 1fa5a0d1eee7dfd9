package session

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
)

// maxLinks is how many links are followed on the way to one file.
const maxLinks = 40

// real is the file that a path leads to through links, with slashes. The file need not be
// there yet; the directory that it is in must. Without any link it is the path.
func (l Ledger) real(path string) string {
	files := l.files()
	done := filepath.VolumeName(filepath.FromSlash(path))
	if !strings.HasPrefix(path[len(done):], "/") {
		return path
	}
	todo := strings.Split(path[len(done)+1:], "/")
	for links := 0; len(todo) > 0; {
		step := todo[0]
		todo = todo[1:]
		switch step {
		case "", ".":
			continue
		case "..":
			done = done[:max(strings.LastIndexByte(done, '/'), 0)]
			continue
		}
		next := done + "/" + step
		info, err := files.Lstat(next)
		if err != nil && (len(todo) > 0 || !errors.Is(err, fs.ErrNotExist)) {
			return path
		}
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		to, err := files.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return path
		}
		if root := filepath.VolumeName(filepath.FromSlash(to)); strings.HasPrefix(to[len(root):], "/") {
			done, to = root, to[len(root)+1:]
		}
		todo = append(strings.Split(to, "/"), todo...)
	}
	if done == "" {
		return "/"
	}
	return done
}
