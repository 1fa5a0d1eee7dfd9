package confine

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"gate/facts"
	"gate/internal/confine/profile"
	"gate/internal/hostfs"
)

// guards are how what starts by itself or steers agents is kept from being changed in
// directories that a program may write.
type guards struct {
	*tables
	hold  []string          // paths that are there, or are made for the time of the run
	made  []string          // of those, the ones that are to be made: directories
	watch []string          // what git would use, and what is not there
	git   map[string]bool   // directories of git's that were looked at
	tops  map[string]string // of those, the ones in which a repository lies whose files are around it, with where
	via   []string          // symbolic links on the way to what is held
	links int               // symbolic links that may still be followed
}

func (t *tables) newGuards() *guards {
	return &guards{tables: t, git: map[string]bool{}, tops: map[string]string{}, links: 10_000}
}

// places finds what to hold in a directory.
func (g *guards) places(repo string, top bool) error {
	for _, pattern := range g.guards {
		unit := unitOf(pattern)
		full := repo + "/" + unit
		first, _, _ := strings.Cut(unit, "/")
		switch there, err := g.whole(repo + "/" + first); {
		case err != nil:
			return err
		case there && g.exists(full):
			if isStub(full) { // of another run, which does not know of this one
				g.made = append(g.made, full)
			} else if err := g.reached(full); err != nil {
				return err
			}
			g.hold = append(g.hold, full)
		case top && unit == first && unit != pattern && g.used(unit):
			g.hold, g.made = append(g.hold, full), append(g.made, full)
		}
	}
	return nil
}

// unitOf is what is held of a pattern as a whole: the directory of an agent or an editor,
// whatever lies in it.
func unitOf(pattern string) string {
	below := strings.TrimSuffix(pattern, "/**")
	first, _, deep := strings.Cut(below, "/")
	if deep && strings.HasPrefix(first, ".") && first != ".github" {
		return first
	}
	return below
}

// whole reports that there is something at a path; it is an error where that is a symbolic
// link.
func (g *guards) whole(name string) (there bool, err error) {
	if !g.exists(name) {
		return false, nil
	}
	info, err := os.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return false, fmt.Errorf("%s steers agents and is a symbolic link, which nothing can hold", name)
	}
	return true, nil
}

// used reports that the person has the agent, or the tool, whose directory has this name.
func (t *tables) used(name string) bool { return t.exists(t.world.Home + "/" + name) }

// mostDeep is how many directories below one that is held are searched for links.
const mostDeep = 6

// reached holds what symbolic links in a held path lead to: it starts by itself as well.
func (g *guards) reached(name string) error { return g.reachedBelow(name, mostDeep) }

func (g *guards) reachedBelow(name string, depth int) error {
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return nil // it is not there, or cannot be looked at
	case info.Mode()&fs.ModeSymlink != 0:
		if g.links--; g.links < 0 {
			return fmt.Errorf("%s and what lies around it have too many symbolic links to be guarded", name)
		}
		real, err := g.behind(name)
		if err != nil || slices.Contains(g.hold, real) {
			return nil // it leads nowhere
		}
		if profile.Within(name, real) {
			return fmt.Errorf("%s is guarded and leads to a directory that it lies in", name)
		}
		g.hold = append(g.hold, real)
		return g.reachedBelow(real, depth-1)
	case !info.IsDir() || depth <= 0:
		return nil
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil // this account cannot read it
	}
	for _, e := range entries {
		if e.IsDir() || e.Type()&fs.ModeSymlink != 0 {
			if err := g.reachedBelow(name+"/"+e.Name(), depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// behind is what a path leads to. It notes the symbolic links on the way.
func (g *guards) behind(name string) (real string, err error) {
	real, links, err := g.physical(name)
	for _, l := range links {
		g.via = append(g.via, l.at)
	}
	return real, err
}

// repository finds what to hold of a repository at a directory, be it one of a worktree or
// of a submodule.
func (g *guards) repository(top string) error {
	name := top + "/.git"
	there, err := g.whole(name)
	if !there || err != nil {
		return err
	}
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		g.tops[name] = top
		return g.gitDir(name, top, mostDeep)
	}
	g.hold = append(g.hold, name)
	git, ok := g.files().GitLinked(name)
	if !ok {
		return nil // it is no repository, and stays none
	}
	real, err := g.behind(git)
	if err != nil {
		return nil // it leads to nothing
	}
	return g.gitDir(real, top, mostDeep)
}

// files is the world with the machine's files.
func (t *tables) files() facts.World {
	w := t.world
	w.Files = hostfs.Files{}
	return w
}

// gitDir holds a directory in which git keeps what is its own, and what its settings lead
// to. It is held as a whole: git follows links in it when it writes and deletes, and goes
// on with an unfinished rebase, whoever wrote it.
func (g *guards) gitDir(git, top string, depth int) error {
	if g.git[git] || depth == 0 {
		return nil
	}
	g.git[git] = true
	w := g.files()
	common, ok := w.GitCommon(git)
	if !ok {
		return fmt.Errorf("%s/commondir cannot be read, so it is not known where git looks", git)
	}
	g.hold = append(g.hold, git)
	if err := g.reached(git + "/hooks"); err != nil {
		return err
	}
	if real, err := g.behind(common); err == nil && real != git {
		if err := g.gitDir(real, top, depth-1); err != nil {
			return err
		}
	}
	if err := g.settings(git, top); err != nil {
		return err
	}
	for _, below := range []string{"worktrees", "modules"} {
		if err := g.others(git+"/"+below, depth-1); err != nil {
			return err
		}
	}
	return nil
}

// either holds a path or, where it is not there, watches it.
func (g *guards) either(name string) {
	if real, err := g.behind(name); err == nil {
		g.hold = append(g.hold, real)
	} else {
		g.watch = append(g.watch, name)
	}
}

// others finds the directories of worktrees and submodules, whose names may have slashes.
func (g *guards) others(dir string, depth int) error {
	entries, err := os.ReadDir(dir)
	if err != nil || depth <= 0 {
		return nil // most repositories have none
	}
	for _, e := range entries {
		at := dir + "/" + e.Name()
		switch {
		case !e.IsDir():
		case slices.ContainsFunc(strings.Fields("HEAD config commondir objects hooks"), func(name string) bool { return exists(at + "/" + name) }):
			top := ""
			if to := g.files().GitFile(at + "/config").Last("core.worktree"); to != "" {
				top = g.world.GitPath(to, at)
				g.either(top + "/.git") // however deep it lies
			}
			if err := g.gitDir(at, top, depth); err != nil {
				return err
			}
		default:
			if err := g.others(at, depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// settings holds the files of settings that git reads, the directory of hooks that they
// name, and the programs of the project that they start.
func (g *guards) settings(git, top string) error {
	c := g.files().GitConfig(g.config, git)
	if !c.Whole {
		return fmt.Errorf("git's settings for %s cannot be read as a whole, so it is not known what git starts", git)
	}
	for _, name := range c.Files {
		g.either(name)
	}
	if top == "" {
		return nil // a bare repository
	}
	for key, values := range c.Settings {
		for _, value := range values {
			if key == "core.hookspath" {
				g.either(g.world.GitPath(value, top))
				if err := g.reached(g.world.GitPath(value, top)); err != nil {
					return err
				}
			} else {
				g.named(value, top)
			}
		}
	}
	return nil
}

// named holds files that a setting names, such as the script of a filter: a word that is
// the path of a file.
func (g *guards) named(value, top string) {
	for word := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(" \t\n\"'!;&|()", r) }) {
		if !strings.ContainsAny(word, "./") {
			continue
		}
		name := g.world.GitPath(word, top)
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			g.either(name)
		}
	}
}
