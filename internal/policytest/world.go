package policytest

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"gate/internal/session"
	"gate/internal/strictjson"
)

// A World is the machine that an event of a test happens on. It has the
// methods of facts.Files, so that
//
//	facts.New(facts.World{Home: w.Home, User: w.User, OS: w.OS, Project: w.Project,
//		Getenv: w.Getenv, Files: w, Programs: w.Programs}).Of(ev)
//
// finds what the test put there, and nothing of the real machine. A World is
// immutable and safe for concurrent use.
type World struct {
	Home    string
	User    string
	OS      string
	Project string

	Programs map[string]any // what the settings of an event case say of programs

	env     map[string]string
	files   files
	origins *session.Ledger // what earlier calls left in files; nil: there were none
}

// key identifies a world without origins.
func (w World) key() string {
	texts := make(map[string]any, len(w.files))
	for name, e := range w.files {
		texts[name] = e.text
	}
	return string(strictjson.Append(nil, []any{w.Home, w.User, w.OS, w.Project, anyMap(w.env), texts, anyMap(w.Programs)}))
}

// Getenv looks a variable of the agent up. Without any in the test, only HOME,
// USER and PATH are set.
func (w World) Getenv(name string) (string, bool) {
	if v, ok := w.env[name]; ok {
		return v, true
	}
	switch name {
	case "HOME":
		return w.Home, true
	case "PATH":
		return "/usr/local/bin:/usr/bin:/bin", true
	case "USER", "LOGNAME":
		return w.User, true
	}
	return "", false
}

// Lstat describes a file of the test, or a directory above one.
func (w World) Lstat(name string) (fs.FileInfo, error) {
	name = path.Clean(name)
	if e, ok := w.files[name]; ok {
		return info{name: path.Base(name), size: int64(len(e.text)), changed: e.changed}, nil
	}
	if name == w.Project || name == w.Home || name == "/" {
		return info{name: path.Base(name), dir: true}, nil
	}
	for file := range w.files {
		if strings.HasPrefix(file, name+"/") {
			return info{name: path.Base(name), dir: true}, nil
		}
	}
	return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
}

// ReadDir returns what a directory of the test holds.
func (w World) ReadDir(name string, limit int) ([]fs.DirEntry, error) {
	if dir, err := w.Lstat(name); err != nil || !dir.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	seen := map[string]bool{}
	var list []fs.DirEntry
	for file := range w.files {
		rest, ok := strings.CutPrefix(file, strings.TrimSuffix(path.Clean(name), "/")+"/")
		if first, _, _ := strings.Cut(rest, "/"); ok && !seen[first] {
			seen[first] = true
			entry, err := w.Lstat(path.Join(name, first))
			if err != nil {
				return nil, err
			}
			list = append(list, fs.FileInfoToDirEntry(entry))
		}
	}
	if len(list) > limit {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return list, nil
}

// Readlink fails: a test's world has no links.
func (w World) Readlink(name string) (string, error) {
	return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
}

// ReadFile returns a file of the test that is not larger than limit.
func (w World) ReadFile(name string, limit int) ([]byte, error) {
	e, ok := w.files[path.Clean(name)]
	switch {
	case !ok:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case e.unsaid:
		return nil, &fs.PathError{Op: "read", Path: name, Err: errUnsaid}
	case len(e.text) > limit:
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	return []byte(e.text), nil
}

var errUnsaid = errors.New("the case does not say what the call wrote; writes of its step does")

type info struct {
	name string
	size int64
	dir  bool

	changed time.Time
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.dir }
func (i info) Sys() any           { return nil }
func (i info) Changed() time.Time { return i.changed }

func (i info) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}
