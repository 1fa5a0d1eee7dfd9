package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"gate/facts"
	"gate/internal/confine/profile"
	"gate/internal/secret"
)

// tables answer from the tables of facts which files hold secrets, and which start by
// themselves or guard the agent.
type tables struct {
	world   facts.World
	home    []string        // secrets below the home directory: patterns without "~/"
	system  []string        // secrets at absolute places
	exact   map[string]bool // names of files that may hold secrets wherever they lie
	endings map[string]bool // endings of such names, with the dot
	other   []string        // patterns of such names
	first   map[string]bool // the first names of guards
	config  string          // the directory of the person's settings, ~/.config as a rule
	guards  []string        // what starts by itself or steers agents, below any directory; git's own is not among them
	there   map[string]bool // what was looked at: whether it exists
	plain   map[string]bool // directories that are reached without a symbolic link
}

func newTables(at Place) *tables {
	t := &tables{
		world:  facts.World{Home: at.Home, Project: at.Project, OS: "linux"},
		config: at.Home + "/.config",
		exact:  map[string]bool{}, endings: map[string]bool{}, there: map[string]bool{}, plain: map[string]bool{},
	}
	for _, pattern := range t.world.Patterns("secret.") {
		if below, ok := strings.CutPrefix(pattern, "~/"); ok {
			t.home = append(t.home, below)
		} else if below, ok := strings.CutPrefix(pattern, "**/"); ok {
			t.anywhere(strings.ToLower(path.Base(strings.TrimSuffix(below, "/**"))))
		} else {
			t.system = append(t.system, pattern)
		}
	}
	for dir := range strings.FieldsSeq(secret.Directories) {
		t.home = append(t.home, dir+"/**")
	}
	t.guards = slices.DeleteFunc(facts.Guarded(t.world), func(pattern string) bool { return strings.HasPrefix(pattern, ".git/") })
	t.first = map[string]bool{".git": true}
	for _, pattern := range t.guards {
		first, _, _ := strings.Cut(pattern, "/")
		t.first[first] = true
	}
	return t
}

func (t *tables) anywhere(name string) {
	switch {
	case !strings.ContainsAny(name, "*?["):
		t.exact[name] = true
	case strings.HasPrefix(name, "*.") && !strings.ContainsAny(name[1:], "*?["):
		t.endings[name[1:]] = true
	default:
		t.other = append(t.other, name)
	}
}

// mayHide reports quickly that a file of a name could hold a secret; isSecret knows.
func (t *tables) mayHide(name string) bool {
	name = strings.ToLower(name)
	return t.exact[name] || t.endings[path.Ext(name)] || slices.ContainsFunc(t.other, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok || err != nil
	})
}

// isSecret reports a file or directory of secrets, or one that lies in such a directory.
func (t *tables) isSecret(name string) bool {
	for dir := range strings.FieldsSeq(secret.Directories) {
		if profile.Within(name, t.world.Home+"/"+dir) {
			return true
		}
	}
	_, found := t.world.Find("secret.", name)
	return found
}

// known lists the secrets that exist at places that the tables name and that lie in some
// directories.
func (t *tables) known(in []string) (found []string) {
	look := func(base, pattern string) {
		names := strings.Split(strings.TrimSuffix(pattern, "/**"), "/")
		at := base
		for i, name := range names {
			if strings.ContainsAny(name, "*?[") {
				found = append(found, t.matching(at, name, i == len(names)-1)...)
				return
			}
			at += "/" + name
		}
		if t.exists(at) {
			found = append(found, at)
		}
	}
	for _, dir := range in {
		if rel, ok := strings.CutPrefix(dir, t.world.Home+"/"); ok {
			for _, pattern := range t.home {
				if near(rel, pattern) {
					look(t.world.Home, pattern)
				}
			}
		}
		for _, pattern := range t.system {
			if near(dir, pattern) && !strings.HasPrefix(pattern, "/proc/") && !strings.HasPrefix(pattern, "/dev/") {
				look("", strings.TrimPrefix(pattern, "/"))
			}
		}
	}
	found = slices.DeleteFunc(found, func(name string) bool { return !profile.WithinAny(name, in) || !readable(name) })
	return profile.LeastOf(found)
}

// near reports that what a pattern names before its first wildcard may lie in a directory.
func near(dir, pattern string) bool {
	fixed := pattern
	if i := strings.IndexAny(pattern, "*?["); i >= 0 {
		fixed = pattern[:i]
	}
	return strings.HasPrefix(strings.TrimSuffix(fixed, "/"), dir) || strings.HasPrefix(dir, fixed)
}

// matching lists the entries of a directory whose names fit a pattern. Where the pattern
// goes on below them, such an entry counts as a whole.
func (t *tables) matching(dir, pattern string, last bool) (found []string) {
	entries, _ := os.ReadDir(dir + "/")
	for _, e := range entries {
		if ok, _ := path.Match(strings.ToLower(pattern), strings.ToLower(e.Name())); ok && (!last || e.IsDir() || t.isSecret(dir+"/"+e.Name())) {
			found = append(found, dir+"/"+e.Name())
		}
	}
	return found
}

// typeOf is what lies at a path, as S_IFDIR. Hundreds of paths are looked at before a program
// begins: it takes half as long as os.Lstat.
func typeOf(name string) (mode uint32, err error) {
	var s unix.Stat_t
	if err := unix.Lstat(name, &s); err != nil {
		return 0, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return s.Mode & unix.S_IFMT, nil
}

func isDir(name string) bool {
	mode, err := typeOf(name)
	return err == nil && mode == unix.S_IFDIR
}

func exists(name string) bool {
	_, err := typeOf(name)
	return err == nil
}

// exists looks at each path once.
func (t *tables) exists(name string) bool {
	there, known := t.there[name]
	if !known {
		there = exists(name)
		t.there[name] = there
	}
	return there
}

// readable reports that this account could read a file, be it after a change of its mode.
// A file that the account cannot read needs no hiding.
func readable(name string) bool { return unix.Access(name, unix.R_OK) == nil || owned(name) }

// owned reports a file or directory of this account.
func owned(name string) bool {
	var s unix.Stat_t
	return unix.Lstat(name, &s) == nil && int(s.Uid) == os.Geteuid()
}

// sockets lists the sockets in some directories that programs listen at, as the kernel
// lists them. Neither a read-only mount nor Landlock keeps a program from connecting to
// one.
func (t *tables) sockets(in []string) (found []string) {
	list, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil // without /proc nothing is confined
	}
	for line := range strings.Lines(string(list)) {
		at := strings.Index(line, " /")
		if at < 0 {
			continue // it has no name, or one that is no path
		}
		name := strings.TrimSuffix(line[at+1:], "\n")
		if real, _, err := t.physical(name); err == nil && profile.WithinAny(real, in) {
			if info, err := os.Lstat(real); err == nil && info.Mode()&fs.ModeSocket != 0 {
				found = append(found, real)
			}
		}
	}
	return found
}

// isBare reports the entries of what git takes for a repository without a worktree: a
// directory that it finds on its way up.
func isBare(entries []fs.DirEntry) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
	}
	return has("HEAD") && (has("objects") && has("refs") || has("commondir")) // which says where those are
}

const (
	deepest     = 3       // how many directories below a project are searched
	mostEntries = 100_000 // how many names a search looks at
)

// busy are directories of a project that tools fill, and that hold too much to be
// searched.
const busy = " node_modules .git vendor target dist build .venv venv __pycache__ .tox .mypy_cache .gradle .next .cache "

// survey is what a search of a project found.
type survey struct {
	secrets []string // files that hold secrets, and sockets, which lead out
	repos   []string // directories that have a .git or something else to guard, the project itself first
	bare    []string // directories that are repositories themselves
}

// survey searches a project for secrets, sockets and other repositories: the directory
// itself and those below it, to a depth.
func (t *tables) survey(project string) (survey, error) {
	s := survey{repos: []string{project}}
	seen := 0
	var walk func(dir string, depth int) error
	walk = func(dir string, depth int) error {
		entries, err := os.ReadDir(dir)
		if err != nil {
			if depth == 0 || !errors.Is(err, fs.ErrPermission) {
				return err
			}
			if owned(dir) { // the program could change its mode, and look into it
				s.secrets = append(s.secrets, dir)
			}
			return nil
		}
		if seen += len(entries); seen > mostEntries {
			return fmt.Errorf("%s has more than %d files in its upper directories, too many to be searched for secrets", project, mostEntries)
		}
		if isBare(entries) {
			s.bare = append(s.bare, dir)
		}
		for _, e := range entries {
			name := dir + "/" + e.Name()
			switch {
			case depth > 0 && t.first[e.Name()] && s.repos[len(s.repos)-1] != dir:
				s.repos = append(s.repos, dir)
			case e.Type() == fs.ModeSocket:
				s.secrets = append(s.secrets, name)
			case t.mayHide(e.Name()) && t.isSecret(name):
				s.secrets = append(s.secrets, name)
			}
			if e.IsDir() && depth < deepest && !strings.Contains(busy, " "+e.Name()+" ") {
				if err := walk(name, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return s, walk(project, 0)
}

// A stub is a directory made so that something can lie over it. It goes when the last
// run that uses it ends.
type stub struct {
	dir  string
	file *os.File
}

// stubMode tells stubs from other empty directories.
const stubMode = 0o500

// isStub reports a directory that a run made, and uses or left behind when it was killed.
func isStub(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir() && info.Mode().Perm() == stubMode
}

// newStub makes a stub, or uses the one of another run.
func newStub(dir string) (*stub, error) {
	for range 100 {
		s, err := holdStub(dir)
		if err != nil {
			return nil, fmt.Errorf("cannot guard %s: %w", dir, err)
		}
		if s != nil {
			return s, nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	return nil, fmt.Errorf("cannot guard %s: it comes and goes, or another program locks it", dir)
}

// holdStub makes a stub if there is none, and keeps other runs from taking it away; nil
// where one has done so meanwhile.
func holdStub(dir string) (*stub, error) {
	in, err := parentOf(dir)
	if err != nil {
		return nil, err
	}
	defer unix.Close(in)
	if err := unix.Mkdirat(in, path.Base(dir), stubMode); err != nil && err != unix.EEXIST {
		return nil, err
	}
	fd, err := unix.Openat(in, path.Base(dir), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &stub{dir, os.NewFile(uintptr(fd), dir)}
	if err := unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB); err != nil { // a confined program could hold it for ever
		s.file.Close()
		if err == unix.EWOULDBLOCK {
			err = nil
		}
		return nil, err
	}
	var held, there unix.Stat_t
	if unix.Fstat(fd, &held) != nil || unix.Fstatat(in, path.Base(dir), &there, unix.AT_SYMLINK_NOFOLLOW) != nil || held.Ino != there.Ino || held.Dev != there.Dev {
		s.file.Close()
		return nil, nil
	}
	return s, nil
}

// parentOf opens the directory that a stub lies in, by no symbolic link: whoever swaps names
// in the project meanwhile has nothing made elsewhere.
func parentOf(dir string) (int, error) {
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	return unix.Openat2(unix.AT_FDCWD, path.Dir(dir), how)
}

// done takes the stub away, unless another run uses it or it is none.
func (s *stub) done() {
	defer s.file.Close()
	if unix.Flock(int(s.file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return
	}
	in, err := parentOf(s.dir)
	if err != nil {
		return // it stays, as that of a run which was killed
	}
	defer unix.Close(in)
	var there unix.Stat_t
	if unix.Fstatat(in, path.Base(s.dir), &there, unix.AT_SYMLINK_NOFOLLOW) == nil && there.Mode == unix.S_IFDIR|stubMode {
		unix.Unlinkat(in, path.Base(s.dir), unix.AT_REMOVEDIR) // fails where something is in it
	}
}
