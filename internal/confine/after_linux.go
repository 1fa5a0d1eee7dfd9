package confine

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gate/internal/confine/profile"
)

// mostLeft is how many names a search afterwards looks at.
const mostLeft = 1_000_000

// An aftermath is a search for what a program has left that starts by itself or steers
// agents.
type aftermath struct {
	*layout
	before snapshot
	notes  bool     // before is being made: what is looked at is noted, and nothing is found
	seen   int      // names that were looked at
	found  []string // what is to be set aside
	root   *os.Root // of the directory that is searched
	links  int      // new symbolic links that were followed
	over   bool     // there were too many names
}

// after looks for what a program has made where nothing could be guarded, and sets it
// aside. It runs when all of the program's processes have ended. whole reports that it
// looked everywhere.
func (l *layout) after(before snapshot) (planted []Planted, whole bool) {
	a := &aftermath{layout: l, before: before}
	for _, name := range l.watch {
		if exists(name) {
			a.add(name)
		}
	}
	for _, dir := range l.changeable() {
		var err error
		if a.root, err = os.OpenRoot(dir); err != nil {
			return append(planted, Planted{Name: dir, Why: err.Error()}), false
		}
		a.search(dir, true)
		planted = append(planted, a.asides(dir)...)
		a.root.Close()
	}
	return planted, !a.over
}

// add takes note of something to be set aside: where a new symbolic link leads to it, of
// the link.
func (a *aftermath) add(name string) {
	for up := path.Dir(name); a.changes(up); up = path.Dir(up) {
		if info, err := os.Lstat(up); err == nil && info.Mode()&fs.ModeSymlink != 0 && a.fresh(up) {
			name = up
		}
	}
	if !profile.WithinAny(name, a.held) {
		a.found = append(a.found, name)
	}
}

// changeable are the directories that a program may change and that belong to somebody.
func (l *layout) changeable() []string {
	var dirs []string
	for _, m := range l.mounts {
		if m.kind == bound && m.dir && l.changes(m.at) {
			dirs = append(dirs, m.at)
		}
	}
	return profile.LeastOf(dirs)
}

// fresh reports that something was not there before the program began, or was another.
func (a *aftermath) fresh(name string) bool {
	is := markOf(name)
	if a.notes {
		if is != "" {
			a.before[name] = is
		}
		return false
	}
	return is != "" && is != a.before[name]
}

// search looks into a directory and those below it, where deep says so.
func (a *aftermath) search(dir string, deep bool) {
	if a.over {
		return
	}
	entries := a.list(dir)
	if isBare(entries) && !a.git[dir] {
		a.repository(dir)
	}
	for _, e := range entries {
		name := dir + "/" + e.Name()
		if a.tables.first[e.Name()] && !profile.WithinAny(name, a.held) {
			a.entry(dir, e)
		}
		if deep && e.Type()&fs.ModeSymlink != 0 && a.fresh(name) {
			a.linkedTo(name)
		}
		if deep && e.IsDir() && e.Name() != ".git" && !profile.WithinAny(name, a.masks) {
			a.search(name, !strings.Contains(busy, " "+e.Name()+" "))
		}
	}
}

// linkedTo looks into the directory that a new symbolic link leads to, which may lie where
// nothing is searched.
func (a *aftermath) linkedTo(link string) {
	real, err := filepath.EvalSymlinks(link)
	if info, wrong := os.Stat(real); err != nil || wrong != nil || !info.IsDir() || !a.changes(real) || profile.Within(link, real) {
		return
	}
	if a.links++; a.links <= mostLinks {
		a.search(real, true)
	} else {
		a.over = true
	}
}

// mostLinks is how many new symbolic links are followed.
const mostLinks = 1000

// list reads a directory. One that a program has closed, so that nobody looks into it, is
// opened; one that was closed before stays so.
func (a *aftermath) list(dir string) []fs.DirEntry {
	const readable = 0o500 // names, and what stands behind them
	if info, err := os.Lstat(dir); err == nil && info.IsDir() && info.Mode()&readable != readable {
		if a.notes {
			a.before[closed+dir] = "closed"
		} else if rel, ok := strings.CutPrefix(dir, a.root.Name()+"/"); ok && a.before[closed+dir] == "" && owned(dir) {
			a.root.Chmod(rel, 0o700)
		}
	}
	entries, _ := os.ReadDir(dir)
	a.seen += len(entries)
	a.over = a.over || a.seen > mostLeft
	return entries
}

// closed stands before the path of a directory in a snapshot that its owner cannot look into.
const closed = "closed "

// entry looks at something whose name begins what starts by itself or steers agents.
func (a *aftermath) entry(dir string, e fs.DirEntry) {
	name := dir + "/" + e.Name()
	if e.Name() == ".git" {
		switch {
		case a.git[name]:
		case e.IsDir():
			a.repository(name)
		default:
			a.linked(name)
		}
		return
	}
	for _, pattern := range a.tables.guards {
		first, _, _ := strings.Cut(pattern, "/")
		if first == e.Name() {
			a.steers(dir, strings.TrimSuffix(pattern, "/**"), strings.HasSuffix(pattern, "/**"))
		}
	}
}

// steers takes note of what is new of a pattern. A directory on the way that is new may
// have been moved there with all that is in it.
func (a *aftermath) steers(dir, below string, tree bool) {
	name, moved := dir, false
	for step := range strings.SplitSeq(below, "/") {
		name += "/" + step
		info, err := os.Lstat(name)
		new := a.fresh(name)
		if err != nil {
			if new { // it is there, and nobody can look
				a.add(name)
			}
			return
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			if new {
				a.add(name)
			}
			return
		}
		moved = moved || new
	}
	if moved || tree && a.freshBelow(name, mostDeep) {
		a.add(name)
	}
}

// freshBelow reports that a directory holds something that was made or changed.
func (a *aftermath) freshBelow(dir string, depth int) bool {
	return depth > 0 && slices.ContainsFunc(a.list(dir), func(e fs.DirEntry) bool {
		name := dir + "/" + e.Name()
		return a.fresh(name) || e.IsDir() && a.freshBelow(name, depth-1)
	})
}

// repository looks at a directory of git's that was not looked at before: one that is new,
// or lies deep. A new repository's own files stay.
func (a *aftermath) repository(git string) {
	moved := a.fresh(git)
	for _, name := range []string{"commondir", "config.worktree", "info/attributes"} {
		if full := git + "/" + name; exists(full) && (moved || a.fresh(full) || a.fresh(path.Dir(full))) {
			a.add(full)
		}
	}
	if config := git + "/config"; exists(config) && (moved || a.fresh(config)) && !a.plain(config) {
		a.add(config)
	}
	hooks := git + "/hooks"
	info, err := os.Lstat(hooks)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 && (moved || a.fresh(hooks)) {
		a.add(hooks)
	} else if err == nil {
		moved = moved || a.fresh(hooks)
		for _, e := range a.list(hooks) {
			if full := hooks + "/" + e.Name(); !strings.HasSuffix(e.Name(), ".sample") && (moved || a.fresh(full)) {
				a.add(full)
			}
		}
	}
	a.todo(git)
}

// linked looks at a .git that is a file or a symbolic link, and at the directory that a file
// leads to. An old file may lead to a new directory.
func (a *aftermath) linked(name string) {
	if a.worktree(name) {
		return
	}
	if a.fresh(name) {
		a.add(name)
	}
	if git, ok := a.tables.files().GitLinked(name); ok && !a.git[git] && a.changes(git) && exists(git) {
		a.repository(git)
	}
}

// todo looks at the list of an unfinished rebase, which may name programs.
func (a *aftermath) todo(git string) {
	for _, name := range []string{"/rebase-merge/git-rebase-todo", "/rebase-apply/git-rebase-todo", "/sequencer/todo"} {
		if !a.fresh(git+name) && !a.fresh(path.Dir(git+name)) {
			continue
		}
		text, err := a.tables.files().Read(git+name, 1<<20)
		if err != nil && exists(git+name) {
			a.add(git + name)
		}
		for line := range strings.Lines(text) {
			if words := strings.Fields(line); len(words) > 0 && (words[0] == "exec" || words[0] == "x") {
				a.add(git + name)
				break
			}
		}
	}
}

// worktree reports the file of a new worktree. It leads where git itself puts it, and back to
// a repository that is guarded or counts as new.
func (a *aftermath) worktree(file string) bool {
	w := a.tables.files()
	git, ok := w.GitLinked(file)
	if info, err := os.Lstat(git); !ok || err != nil || !info.IsDir() || path.Base(path.Dir(git)) != "worktrees" || exists(git+"/config.worktree") {
		return false
	}
	common, ok := w.GitCommon(git)
	if !ok || common != path.Dir(path.Dir(git)) {
		return false
	}
	if !a.git[common] {
		if !a.changes(common) {
			return false
		}
		a.repository(common) // which may lie where nothing is searched
	}
	a.todo(git)
	return true
}

// plainKeys are settings that start nothing and lead nowhere: those of a repository that git
// has just made.
const plainKeys = " core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase core.precomposeunicode core.symlinks user.name user.email " +
	"init.defaultbranch extensions.objectformat extensions.refstorage "

// plain reports a file of settings that starts nothing.
func (a *aftermath) plain(config string) bool {
	c := a.tables.files().GitFile(config)
	if !c.Whole || len(c.Files) != 1 {
		return false
	}
	for key, values := range c.Settings {
		peer := strings.HasPrefix(key, "remote.") && (strings.HasSuffix(key, ".url") || strings.HasSuffix(key, ".fetch"))
		branch := strings.HasPrefix(key, "branch.") && (strings.HasSuffix(key, ".remote") || strings.HasSuffix(key, ".merge"))
		if !peer && !branch && !strings.Contains(plainKeys, " "+key+" ") ||
			slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, "::") || strings.HasPrefix(v, "-") }) {
			return false
		}
	}
	return true
}

// aside ends the name of what was set aside.
const aside = ".set-aside"

// asides moves what was found in a directory. No part of the way may lead out of it.
func (a *aftermath) asides(dir string) (planted []Planted) {
	slices.SortFunc(a.found, func(x, y string) int { return cmp.Or(len(x)-len(y), strings.Compare(x, y)) })
	for _, name := range profile.LeastOf(a.found) {
		if !profile.Within(name, dir) {
			continue
		}
		p := Planted{Name: name}
		var err error
		if p.Aside, err = setAside(a.root, strings.TrimPrefix(name, dir+"/")); err != nil {
			p.Aside, p.Why = "", err.Error()
		} else {
			p.Aside = dir + "/" + p.Aside
		}
		planted = append(planted, p)
	}
	a.found = slices.DeleteFunc(a.found, func(name string) bool { return profile.Within(name, dir) })
	return planted
}

// setAside gives something another name in the same directory, where nothing starts it.
func setAside(root *os.Root, name string) (to string, err error) {
	for n := range 20 {
		to = name + aside
		if n > 9 { // the program may have made names, but not all of those
			to += "." + strconv.FormatInt(time.Now().UnixNano(), 36)
		} else if n > 0 {
			to += "." + strconv.Itoa(n)
		}
		if _, err := root.Lstat(to); err == nil {
			continue
		}
		err = root.Rename(name, to)
		if os.IsPermission(err) { // the program has taken the right to change the directory
			root.Chmod(path.Dir(name), 0o755)
			err = root.Rename(name, to)
		}
		return to, err
	}
	return "", fmt.Errorf("there are too many files of the name %s", path.Base(name)+aside)
}
