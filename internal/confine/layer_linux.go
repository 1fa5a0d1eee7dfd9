package confine

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

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
	dir, err := newStage(store)
	if err != nil {
		return nil, fmt.Errorf("repositories: %w", err)
	}
	var ups []string
	for i := range l.mounts {
		m := &l.mounts[i]
		if m.base == nil {
			continue
		}
		m.store = dir + "/" + strconv.Itoa(len(ups))
		ups = append(ups, m.store+"/up")
		for _, part := range []string{"/up", "/work"} {
			if err := os.MkdirAll(m.store+part, 0o755); err != nil {
				removeStage(dir)
				return nil, fmt.Errorf("repositories: %w", err)
			}
		}
	}
	l.staged = dir
	before := make([]untouched, len(ups))
	for n, up := range ups {
		before[n], _ = touched(up)
	}
	return func() {
		for _, base := range l.bases {
			base.Close()
		}
		for n, up := range ups {
			if is, ok := touched(up); !ok || is != before[n] || !clearWork(path.Dir(up)) {
				removeStage(dir)
				return
			}
		}
		if unix.Rename(dir, store+"/"+freeStage) != nil { // another run has left one
			removeStage(dir)
		}
	}, nil
}

const stageName = "git-"

// freeStage is the name of directories that a run has left whose program changed nothing: the
// next run need not make any. To take them is to rename them.
const freeStage = "git.free"

// newStage makes a directory for one run.
func newStage(store string) (dir string, err error) {
	dir = fmt.Sprintf("%s/%s%d-%d", store, stageName, os.Getpid(), time.Now().UnixNano())
	if unix.Rename(store+"/"+freeStage, dir) == nil {
		now := time.Now()
		return dir, os.Chtimes(dir, now, now) // it is not [stale]
	}
	return os.MkdirTemp(store, stageName)
}

// An untouched is how a directory for changes looks to a later run.
type untouched struct {
	mode, uid, gid uint32
	flags          int
}

// touched says how such a directory looks. It reports false where a program has left anything
// in it or at it.
func touched(up string) (is untouched, ok bool) {
	fd, err := unix.Open(up, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return is, false
	}
	dir := os.NewFile(uintptr(fd), up)
	defer dir.Close()
	var s unix.Stat_t
	if _, err := dir.ReadDir(1); err != io.EOF || unix.Fstat(fd, &s) != nil {
		return is, false
	}
	names := make([]byte, 512)
	n, err := unix.Flistxattr(fd, names)
	if err != nil && err != unix.ENOTSUP {
		return is, false
	}
	for name := range strings.FieldsFuncSeq(string(names[:max(n, 0)]), func(r rune) bool { return r == 0 }) {
		if name != "user.overlay.uuid" && name != "user.overlay.impure" && name != "security.selinux" { // the kernel's own
			return is, false
		}
	}
	flags, _ := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS) // not every file system has them
	return untouched{s.Mode, s.Uid, s.Gid, flags}, true
}

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
