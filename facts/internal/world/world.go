// Package world holds what facts may know of the machine and look at: the home
// directory, the project, small files, and which paths matter (places.rows). It
// reads and runs nothing by itself and knows no command; package facts does. A
// [World] is a value that is filled in by whoever makes a reader of facts.
package world

import (
	"errors"
	"io/fs"
	"strings"

	"gate/internal/origin"
)

// A World is what facts may know and look at outside the event. The zero World
// has no home, no variables and no files: everything that depends on them is
// unknown. A World must be safe for concurrent use.
type World struct {
	Home    string                           // the home directory of the agent's user, absolute
	User    string                           // the account
	OS      string                           // "linux", "darwin", "windows"
	Project string                           // project root; "" means the event's directory
	Dir     string                           // the event's directory; set by facts.Reader.Of
	Getenv  func(name string) (string, bool) // the agent's environment; nil means unknown
	Files   Files                            // nil: no file is looked at
	Own     func() []Place                   // of class self: files of gate and of agents on this machine, asked for once a path is written to; nil: none

	// Ledger opens what earlier calls left in files, for an event of a session; nil: nothing
	// is known of them. It is called for an event that touches files.
	Ledger func(agent, session string) origin.Ledger

	// WordsOnly says that nobody reads what decides beside the words of a line. Then
	// nobody looks at links, PATH, and git's settings, hooks and index;
	// hook.Shell.Ground and hook.ShellCommand.Repository are nil.
	WordsOnly bool

	// Programs are rows that settings add to the catalogue, by program or by
	// program and verb, for programs that it does not know; see catalogue.Read.
	Programs map[string]any
}

// Files gives read access to the machine, with absolute slash-separated names.
type Files interface {
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
	// ReadFile returns at most limit bytes of a regular file, and an error for
	// anything else or anything larger.
	ReadFile(name string, limit int) ([]byte, error)
}

// OwnPlaces is Own, or none.
func (w World) OwnPlaces() []Place {
	if w.Own == nil {
		return nil
	}
	return w.Own()
}

// Env is Getenv, which knows no variable where it is nil.
func (w World) Env(name string) (string, bool) {
	if w.Getenv == nil {
		return "", false
	}
	return w.Getenv(name)
}

var errNoFiles = errors.New("no files")

// Read returns a regular file of at most limit bytes.
func (w World) Read(name string, limit int) (string, error) {
	if w.Files == nil {
		return "", errNoFiles
	}
	data, err := w.Files.ReadFile(name, limit)
	return string(data), err
}

// Exists reports whether anything has this name, be it a link to nothing.
func (w World) Exists(name string) bool {
	if w.Files == nil {
		return false
	}
	_, err := w.Files.Lstat(name)
	return err == nil
}

const maxLinks = 40

// Resolve follows symbolic links in the deepest existing part of name. links
// are those that the line itself makes. It reports false for a loop.
func (w World) Resolve(name string, links map[string]string, last bool) (string, bool) {
	hops := 0
	var done string
	todo := strings.Split(strings.TrimPrefix(name, "/"), "/")
	for len(todo) > 0 {
		step := todo[0]
		todo = todo[1:]
		if step == "" || step == "." {
			continue
		}
		if step == ".." {
			if done = Parent(done); done == "/" {
				done = ""
			}
			continue
		}
		next := done + "/" + step
		target, ok := links[next]
		if !ok && w.Files != nil && (last || len(todo) > 0) {
			if info, err := w.Files.Lstat(next); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				target, err = w.Files.Readlink(next)
				ok = err == nil
			}
		}
		if !ok || !last && len(todo) == 0 {
			done = next
			continue
		}
		if hops++; hops > maxLinks {
			return "", false
		}
		if strings.HasPrefix(target, "/") {
			done = ""
		}
		todo = append(strings.Split(strings.TrimPrefix(target, "/"), "/"), todo...)
	}
	if done == "" {
		done = "/"
	}
	return done, true
}

// Parent is the directory above p; the parent of the root is the root.
func Parent(p string) string {
	i := strings.LastIndexByte(p, '/')
	if i <= 0 {
		return "/"
	}
	return p[:i]
}

// Below reports whether p is dir or inside it.
func Below(p, dir string) bool {
	return dir != "" && (p == dir || dir == "/" || strings.HasPrefix(p, dir+"/"))
}

// IsDirectory reports a directory, or a link to one.
func (w World) IsDirectory(name string) bool {
	if w.Files == nil {
		return false
	}
	info, err := w.Files.Lstat(name)
	return err == nil && info.Mode()&fs.ModeType == fs.ModeDir
}

// hardLinks are Files that tell which of some names is the same file as one that has
// several names.
type hardLinks interface {
	SameAs(info fs.FileInfo, names []string) string
}

// linked are names, below the home and the project, of files that matter and that may
// have another name.
const linked = ".ssh/id_rsa .ssh/id_ed25519 .ssh/id_ecdsa .ssh/authorized_keys .ssh/config .aws/credentials .netrc .git-credentials .npmrc .pypirc .env " +
	".kube/config .docker/config.json .bashrc .profile .bash_profile .zshrc .zshenv .gitconfig .claude/settings.json .claude/settings.local.json .git/config .envrc"

// Twin returns the file that matters of which a file is another name, a hard link; ""
// for none.
func (w World) Twin(name string) string {
	files, ok := w.Files.(hardLinks)
	if !ok {
		return ""
	}
	info, err := w.Files.Lstat(name)
	if err != nil || info == nil || !info.Mode().IsRegular() {
		return ""
	}
	var names []string
	for _, dir := range []string{w.Home, w.Project} {
		for below := range strings.FieldsSeq(linked) {
			if file := dir + "/" + below; dir != "" {
				if file == name {
					return ""
				}
				names = append(names, file)
			}
		}
	}
	return files.SameAs(info, names)
}
