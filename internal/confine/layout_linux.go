package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"gate/internal/confine/profile"
	"gate/internal/confine/repository"
)

// A kind says what a mount of the new root is.
type kind uint8

const (
	bound    kind = iota // what lies outside at from
	memory               // an empty file system in memory
	layered              // what lies outside at from, where changes go to store
	proc                 // the processes of the namespace
	terminal             // terminals of the namespace
	again                // what lies in the new root at the same place: for pins and guards
	masked               // nothing: an empty file or directory that cannot be opened
)

// A mount is a part of the new root. Parts are mounted shallow ones first.
type mount struct {
	at      string // absolute, and without symbolic links
	kind    kind
	from    string // of bound and layered
	store   string // of layered: the directory that has up and work
	options string // of memory and terminal
	write   bool
	dir     bool
	device  bool
	rights  uint64 // of Landlock; 0: those of what it lies in

	base *repository.Base // of a layer over a repository
}

// A link is a symbolic link of the new root.
type link struct{ at, to string }

// A layout is what a program will see.
type layout struct {
	profile Profile
	tables  *tables
	surveys map[string]survey
	mounts  []mount
	links   []link
	stubs   []string        // directories to be made first, so that guards can lie over them
	held    []string        // what is guarded
	watch   []string        // what could not be guarded because it is not there
	git     map[string]bool // directories in which git keeps what is its own
	masks   []string        // of level files: what the rules must leave out

	layers bool               // repositories may have layers
	bases  []*repository.Base // what they were before
	staged string             // where changes of repositories lie
}

// lay resolves a profile on this machine. Stores are the directories for the caches, in
// their order; a cache without one is only readable. Layers says that changes of repositories
// are kept apart; otherwise those are only readable. The environment says where the
// person's settings of git lie.
func lay(p Profile, at Place, stores []string, layers bool, env []string) (*layout, error) {
	t := newTables(at)
	for _, entry := range env {
		if dir, ok := strings.CutPrefix(entry, "XDG_CONFIG_HOME="); ok && strings.HasPrefix(dir, "/") {
			t.config = path.Clean(dir)
		}
	}
	l := &layout{profile: p, tables: t, surveys: map[string]survey{}, layers: layers}
	for _, of := range []struct {
		list  []string
		write bool
	}{{p.Read, false}, {p.Write, true}} {
		for _, name := range of.list {
			if err := l.bind(t, name, of.write); err != nil {
				return nil, err
			}
		}
	}
	for i, name := range p.Cache {
		if err := l.cache(t, name, stores, i); err != nil {
			return nil, err
		}
	}
	l.mounts = slices.DeleteFunc(slices.Clone(l.mounts), func(m mount) bool { // what can be changed can be read
		return !m.write && slices.ContainsFunc(l.mounts, func(w mount) bool { return w.write && profile.Within(m.at, w.at) })
	})
	if err := l.hide(t); err != nil {
		return nil, err
	}
	if err := l.protect(t); err != nil {
		return nil, err
	}
	l.system()
	l.arrange()
	return l, nil
}

// bind adds a path of the machine as it is. A path that is not there needs nothing,
// unless it was to be written.
func (l *layout) bind(t *tables, name string, write bool) error {
	real, links, err := t.physical(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !write, errors.Is(err, fs.ErrPermission) && !write:
		return nil
	case err != nil:
		return fmt.Errorf("profile %s: %w", l.profile.Name, err)
	case profile.WithinAny(real, l.profile.Deny):
		return nil
	case t.isSecret(real):
		return fmt.Errorf("profile %s names %s, which is a place of secrets", l.profile.Name, name)
	}
	info, err := os.Lstat(real)
	if err != nil {
		return err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return fmt.Errorf("profile %s names %s, which is neither a file nor a directory", l.profile.Name, name)
	}
	l.links = append(l.links, links...)
	m := mount{at: real, from: real, write: write, dir: info.IsDir(), rights: rightsRead}
	if write {
		m.rights = rightsWrite
	}
	l.mounts = append(l.mounts, m)
	return nil
}

// cache adds a directory whose changes are kept apart.
func (l *layout) cache(t *tables, name string, stores []string, i int) error {
	if i >= len(stores) {
		return l.bind(t, name, false)
	}
	m := mount{at: name, kind: bound, from: stores[i] + "/up", write: true, dir: true, rights: rightsWrite}
	real, links, err := t.physical(name)
	switch info, statErr := os.Lstat(real); {
	case err == nil && t.isSecret(real):
		return fmt.Errorf("profile %s names %s, which is a place of secrets", l.profile.Name, name)
	case err == nil && statErr == nil && info.IsDir():
		l.links = append(l.links, links...)
		m.kind, m.at, m.from, m.store = layered, real, real, stores[i]
	case !t.exists(path.Dir(name)):
		return nil // nobody has used the tool
	}
	l.mounts = append(l.mounts, m)
	return nil
}

// hide puts masks over what the profile denies and over secrets, where it would be in
// view.
func (l *layout) hide(t *tables) error {
	var seen, projects []string
	for _, m := range l.mounts {
		if m.dir {
			seen = append(seen, m.at)
		}
	}
	for _, name := range l.profile.Write {
		if real, _, err := t.physical(name); err == nil {
			projects = append(projects, real)
		}
	}
	if real, _, err := t.physical(t.world.Project); err == nil && profile.WithinAny(real, seen) {
		projects = append(projects, real)
	}
	hidden := t.known(seen)
	for _, dir := range profile.LeastOf(projects) {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			continue
		}
		found, err := l.survey(dir)
		if err != nil {
			return err
		}
		hidden = append(hidden, found.secrets...)
	}
	for _, name := range l.profile.Deny {
		real, _, err := t.physical(name)
		if err == nil && profile.WithinAny(real, seen) {
			hidden = append(hidden, real)
		}
		if err != nil && profile.WithinAny(name, l.profile.Write) {
			return fmt.Errorf("profile %s denies %s, which is not there and could be made", l.profile.Name, name)
		}
	}
	hidden = append(hidden, t.sockets(seen)...)
	l.mounts = slices.DeleteFunc(l.mounts, func(m mount) bool { return profile.WithinAny(m.at, hidden) })
	for _, name := range profile.LeastOf(hidden) {
		if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink == 0 { // a link leads where the profile says, or nowhere
			l.mounts = append(l.mounts, mount{at: name, kind: masked, dir: info.IsDir()})
			l.masks = append(l.masks, name)
		}
	}
	return nil
}

// survey searches a directory once.
func (l *layout) survey(dir string) (s survey, err error) {
	s, known := l.surveys[dir]
	if !known {
		s, err = l.tables.survey(dir)
		l.surveys[dir] = s
	}
	return s, err
}

// protect keeps what cannot be changed in writable directories.
func (l *layout) protect(t *tables) error {
	g := t.newGuards()
	for _, m := range l.mounts {
		if m.write && m.dir && m.kind == bound && m.from == m.at {
			if err := l.guard(g, m.at); err != nil {
				return err
			}
		}
	}
	guards := g.hold
	for _, name := range l.profile.Guard {
		real, _, err := t.physical(name)
		if err != nil && profile.WithinAny(name, l.profile.Write) {
			return fmt.Errorf("profile %s guards %s, which is not there and could be made", l.profile.Name, name)
		}
		if err == nil {
			guards = append(guards, real)
		}
	}
	guards = profile.LeastOf(guards)
	for _, name := range guards {
		if profile.WithinAny(name, l.masks) {
			continue
		}
		if !l.freeze(name) {
			continue
		}
		info, err := os.Lstat(name)
		dir := err != nil || info.IsDir() // what is not there yet will be a stub
		if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is to be guarded and is neither a file nor a directory", name)
		}
		if slices.Contains(g.made, name) {
			l.stubs = append(l.stubs, name)
		}
		if base := l.base(g, name); base != nil {
			l.mounts = append(l.mounts, mount{at: name, kind: layered, from: name, write: true, dir: true, base: base})
			if name += "/hooks"; isDir(name) {
				l.mounts = append(l.mounts, mount{at: name, kind: again, dir: true})
			}
			continue
		}
		l.mounts = append(l.mounts, mount{at: name, kind: again, dir: dir})
	}
	for _, link := range g.via {
		if l.changes(link) && !profile.WithinAny(link, guards) {
			return fmt.Errorf("%s leads to what is guarded and is a symbolic link, which nothing can hold", link)
		}
	}
	l.watch, l.git, l.held = slices.DeleteFunc(g.watch, func(name string) bool { return !l.changes(name) }), g.git, guards
	l.pin()
	return nil
}

// changes reports a path that a program can change, guards aside.
func (l *layout) changes(name string) bool {
	return slices.ContainsFunc(l.mounts, func(m mount) bool {
		return m.write && m.dir && m.kind == bound && m.from == m.at && profile.Within(name, m.at)
	})
}

// guard finds what is to be guarded in a directory that can be changed.
func (l *layout) guard(g *guards, dir string) error {
	found, err := l.survey(dir)
	if err != nil {
		return err
	}
	for i, repo := range found.repos {
		if err := errors.Join(g.places(repo, i == 0), g.repository(repo)); err != nil {
			return err
		}
	}
	for _, repo := range found.bare {
		if err := g.gitDir(repo, "", mostDeep); err != nil {
			return err
		}
	}
	return nil
}

// freeze makes a guarded path read-only. It reports whether the path lies in something that
// can be changed, and so has to be guarded there.
func (l *layout) freeze(guarded string) bool {
	inside := false
	for i := range l.mounts {
		m := &l.mounts[i]
		switch {
		case profile.Within(m.at, guarded) && m.kind != masked:
			m.write, m.rights = false, rightsRead
			if m.kind == layered {
				m.kind = bound
			}
		case profile.Within(guarded, m.at) && m.write:
			inside = true
		}
	}
	return inside
}

// pin makes every directory between a writable one and a guard or mask below it a mount.
// The kernel renames no mount, so none can be moved out of the way with its content.
func (l *layout) pin() {
	for _, m := range slices.Clone(l.mounts) {
		if m.kind != again && m.kind != masked && m.base == nil {
			continue
		}
		for up := path.Dir(m.at); up != "/"; up = path.Dir(up) {
			if !slices.ContainsFunc(l.mounts, func(w mount) bool { return w.write && w.at != up && profile.Within(up, w.at) }) {
				break
			}
			l.mounts = append(l.mounts, mount{at: up, kind: again, write: true, dir: true})
		}
	}
}

// system adds what every program has.
func (l *layout) system() {
	size := ""
	if n := l.profile.Limits.Temp; n > 0 {
		size = fmt.Sprintf(",size=%d", n)
	}
	l.mounts = append(l.mounts,
		mount{at: tempDir, kind: memory, options: "mode=1777" + size, write: true, dir: true, rights: rightsWrite},
		mount{at: "/proc", kind: proc, dir: true, rights: rightsProc},
		mount{at: "/dev/pts", kind: terminal, options: "newinstance,ptmxmode=0666,mode=620", write: true, dir: true, device: true},
	)
	l.aboveTemp()
	for name := range strings.FieldsSeq("null zero full random urandom tty") {
		l.mounts = append(l.mounts, mount{at: "/dev/" + name, from: "/dev/" + name, write: true, device: true})
	}
	l.links = append(l.links, link{"/dev/fd", "/proc/self/fd"}, link{"/dev/stdin", "/proc/self/fd/0"}, link{"/dev/stdout", "/proc/self/fd/1"},
		link{"/dev/stderr", "/proc/self/fd/2"}, link{"/dev/ptmx", "pts/ptmx"},
		link{"/dev/shm", tempDir}, link{"/var/tmp", tempDir})
}

// aboveTemp keeps directories among temporary files read-only that are there only because
// something in them is. A program's files there would seem to be kept, and are lost.
func (l *layout) aboveTemp() {
	tops := map[string]bool{}
	add := func(name string) {
		if below, ok := strings.CutPrefix(name, tempDir+"/"); ok {
			first, _, _ := strings.Cut(below, "/")
			tops[tempDir+"/"+first] = true
		}
	}
	add(l.tables.world.Home)
	for _, m := range l.mounts {
		add(m.at)
	}
	for _, m := range l.mounts {
		delete(tops, m.at)
	}
	for top := range tops {
		l.mounts = append(l.mounts, mount{at: top, kind: memory, options: "mode=0755,size=1m", dir: true})
	}
}

// arrange puts mounts in their order, and leaves out what is there twice: what restricts
// more stays.
func (l *layout) arrange() {
	strict := func(m mount) int { // of the same place the greatest wins
		switch {
		case m.kind == masked:
			return 4
		case m.kind == again && !m.write:
			return 3
		case m.kind == again:
			return 0
		case m.write:
			return 2
		}
		return 1
	}
	slices.SortStableFunc(l.mounts, func(a, b mount) int {
		if c := strings.Count(a.at, "/") - strings.Count(b.at, "/"); c != 0 {
			return c
		}
		if c := strings.Compare(a.at, b.at); c != 0 {
			return c
		}
		return strict(b) - strict(a)
	})
	l.mounts = slices.CompactFunc(l.mounts, func(a, b mount) bool { return a.at == b.at })
	l.mounts = slices.DeleteFunc(l.mounts, func(m mount) bool { return l.idle(m) })
}

// idle reports a mount that changes nothing about the one that it lies in.
func (l *layout) idle(m mount) bool {
	in := l.owner(m.at)
	return in != nil && m.kind == bound && in.kind == bound && m.from == m.at && in.from == in.at && m.write == in.write && m.device == in.device
}

// owner is the deepest mount that a path lies in, its own aside; nil for the root.
func (l *layout) owner(p string) (in *mount) {
	for i := range l.mounts {
		m := &l.mounts[i]
		if m.at != p && profile.Within(p, m.at) && (in == nil || len(m.at) > len(in.at)) && m.kind != again {
			in = m
		}
	}
	return in
}

// sees reports that a program can see a path at all.
func (l *layout) sees(p string) bool {
	in := l.owner(p + "/.")
	return in != nil && in.kind != masked && in.kind != memory
}

// physical follows all symbolic links of a path, and returns them.
func (t *tables) physical(name string) (real string, links []link, err error) {
	if _, err := typeOf(name); err != nil { // much is not there, which needs no walk
		return "", nil, err
	}
	todo := strings.Split(strings.Trim(name, "/"), "/")
	for len(todo) > 0 {
		step := todo[0]
		todo = todo[1:]
		switch step {
		case "", ".":
			continue
		case "..":
			if i := strings.LastIndexByte(real, '/'); i >= 0 {
				real = real[:i]
			}
			continue
		}
		at := real + "/" + step
		if t.plain[at] {
			real = at
			continue
		}
		mode, err := typeOf(at)
		if err != nil {
			return "", nil, err
		}
		if mode != unix.S_IFLNK {
			real = at
			t.plain[at] = mode == unix.S_IFDIR
			continue
		}
		to, err := os.Readlink(at)
		if err != nil {
			return "", nil, err
		}
		if links = append(links, link{at, to}); len(links) > 40 {
			return "", nil, fmt.Errorf("%s leads through too many symbolic links", name)
		}
		if strings.HasPrefix(to, "/") {
			real = ""
		}
		todo = append(strings.Split(strings.Trim(to, "/"), "/"), todo...)
	}
	if real == "" {
		real = "/"
	}
	return real, links, nil
}
