package confine

import (
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
	"gate/internal/confine/repository"
)

// mostLayers is how many repositories of a project can be changed. Each one takes some
// milliseconds.
const mostLayers = 8

// base says what a repository is before a layer lies over its directory; nil where it stays
// read-only.
func (l *layout) base(g *guards, git string) *repository.Base {
	top, ok := g.tops[git]
	if !ok || !l.layers || len(l.bases) >= mostLayers || !l.changes(git) ||
		slices.ContainsFunc(slices.Concat(l.profile.Guard, l.profile.Deny), func(name string) bool { return profile.Within(name, git) || profile.Within(git, name) }) {
		return nil
	}
	hexes, ok := g.plainStore(git)
	if !ok {
		return nil
	}
	parts := []repository.Part{{Work: top}}
	for dir := range g.git {
		below, inside := strings.CutPrefix(dir, git+"/")
		if !inside {
			continue
		}
		if common := path.Dir(path.Dir(below)); path.Base(path.Dir(below)) == "worktrees" {
			if common == "." {
				common = ""
			}
			if real, ok := g.files().GitCommon(dir); ok && real == path.Join(git, common) {
				file, _ := g.files().Read(dir+"/gitdir", 4096)
				parts = append(parts, repository.Part{Dir: below, Common: common, Work: strings.TrimSuffix(strings.TrimSpace(file), "/.git")})
			}
		} else if of, ok := g.plainStore(dir); ok && of == hexes {
			work := ""
			if to := g.files().GitFile(dir + "/config").Last("core.worktree"); to != "" {
				work = g.world.GitPath(to, dir)
			}
			parts = append(parts, repository.Part{Dir: below, Common: below, Work: work})
		}
	}
	parts = slices.DeleteFunc(parts, func(p repository.Part) bool { // a worktree of what is none
		return !slices.ContainsFunc(parts, func(of repository.Part) bool { return of.Dir == p.Common })
	})
	slices.SortFunc(parts, func(a, b repository.Part) int { return strings.Compare(a.Dir, b.Dir) })
	base, err := repository.Look(git, hexes, parts)
	if err != nil {
		return nil
	}
	l.bases = append(l.bases, base)
	return base
}

// plainStore reports how many digits names of objects have in a repository that keeps what is
// its own as git does without further settings.
func (g *guards) plainStore(git string) (hexes int, ok bool) {
	c := g.files().GitConfig(g.config, git)
	if shared := c.Last("core.sharedrepository"); shared != "" && !strings.EqualFold(shared, "umask") && !strings.EqualFold(shared, "false") {
		return 0, false
	}
	for key := range c.Settings {
		format := c.Last(key)
		switch {
		case key == "core.splitindex" || key == "index.sparse":
			if !strings.EqualFold(format, "false") {
				return 0, false
			}
		case !strings.HasPrefix(key, "extensions.") || key == "extensions.noop" || key == "extensions.worktreeconfig":
		case key == "extensions.objectformat" && (format == "sha1" || format == "sha256"):
		case key == "extensions.refstorage" && format == "files":
		default:
			return 0, false
		}
	}
	if c.Last("extensions.objectformat") == "sha256" {
		return 64, true
	}
	return 40, true
}

// stage makes the directories in which a program's changes of repositories lie. Without a
// layer there is nothing to make.
func (l *layout) stage(store string) (done func(), err error) {
	if len(l.bases) == 0 {
		return func() {}, nil
	}
	if err := os.MkdirAll(store, 0o700); err != nil {
		return nil, fmt.Errorf("repositories: %w", err)
	}
	clearStages(store)
	dir, err := os.MkdirTemp(store, stageName)
	if err != nil {
		return nil, fmt.Errorf("repositories: %w", err)
	}
	n := 0
	for i := range l.mounts {
		m := &l.mounts[i]
		if m.base == nil {
			continue
		}
		m.store = dir + "/" + strconv.Itoa(n)
		n++
		for _, part := range []string{"/up", "/work"} {
			if err := os.MkdirAll(m.store+part, 0o755); err != nil {
				removeStage(dir)
				return nil, fmt.Errorf("repositories: %w", err)
			}
		}
	}
	l.staged = dir
	return func() {
		for _, base := range l.bases {
			base.Close()
		}
		removeStage(dir)
	}, nil
}

const stageName = "git-"

// stale is how old a directory is that a run left which was killed together with what sweeps.
const stale = 24 * time.Hour

func clearStages(store string) {
	dirs, _ := filepath.Glob(store + "/" + stageName + "*")
	for _, dir := range dirs {
		if info, err := os.Lstat(dir); err == nil && time.Since(info.ModTime()) > stale {
			removeStage(dir)
		}
	}
}

// removeStage removes a directory with all that a program left in it, be it closed.
func removeStage(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	filepath.WalkDir(dir, func(name string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			os.Chmod(name, 0o700) // before it is read
		}
		return nil
	})
	os.RemoveAll(dir)
}

// takeOver takes over what the program made in the layers over repositories.
func (l *layout) takeOver() (said []string) {
	for _, m := range l.mounts {
		if m.base != nil {
			for _, text := range m.base.TakeOver(m.store + "/up") {
				said = append(said, shown(text))
			}
		}
	}
	return said
}
