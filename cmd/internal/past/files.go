package past

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"

	"gate/facts"
	"gate/internal/hostfs"
)

// onBranch shows files as they are, but for the branch that is checked out in a
// project: transcripts say which one it was.
func onBranch(files facts.Files, project, branch string) facts.Files {
	if files == nil {
		files = hostfs.Files{}
	}
	dir := filepath.ToSlash(project)
	git := path.Join(dir, ".git")
	if text, err := files.ReadFile(git, 4096); err == nil { // a worktree
		if to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: "); ok && path.IsAbs(to) {
			git = path.Clean(to)
		}
	}
	return branchFiles{files, git, branch}
}

// branchFiles are files in which a repository is on a branch.
type branchFiles struct {
	facts.Files
	git    string // the repository's own directory
	branch string
}

func (f branchFiles) Lstat(name string) (fs.FileInfo, error) {
	switch path.Clean(name) {
	case f.git:
		return shownFile{path.Base(name), true}, nil
	case f.git + "/HEAD":
		return shownFile{path.Base(name), false}, nil
	}
	return f.Files.Lstat(name)
}

func (f branchFiles) ReadFile(name string, limit int) ([]byte, error) {
	if path.Clean(name) == f.git+"/HEAD" {
		return []byte("ref: refs/heads/" + f.branch + "\n"), nil
	}
	return f.Files.ReadFile(name, limit)
}

// ReadDir is that of the files, where they tell: the repository is on one branch or
// another, and holds what it holds.
func (f branchFiles) ReadDir(name string, limit int) ([]fs.DirEntry, error) {
	return facts.World{Files: f.Files}.List(name, limit)
}

// noFiles is a machine without any.
type noFiles struct{}

func (noFiles) Lstat(name string) (fs.FileInfo, error) { return nil, absent("lstat", name) }
func (noFiles) Readlink(name string) (string, error)   { return "", absent("readlink", name) }
func (noFiles) ReadFile(name string, _ int) ([]byte, error) {
	return nil, absent("open", name)
}

func absent(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist} }

// A shownFile is a file that only the past has.
type shownFile struct {
	name string
	dir  bool
}

func (i shownFile) Name() string       { return i.name }
func (i shownFile) Size() int64        { return 0 }
func (i shownFile) ModTime() time.Time { return time.Time{} }
func (i shownFile) IsDir() bool        { return i.dir }
func (i shownFile) Sys() any           { return nil }
func (i shownFile) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o700
	}
	return 0o600
}
