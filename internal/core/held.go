package core

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/hostfs"
	"gate/internal/origin"
	"gate/internal/seen"
)

// Limits of what is read again after a call that showed a secret.
const (
	maxHeld     = 64       // files
	maxHeldFile = 8 << 20  // bytes of one
	maxHeldAll  = 16 << 20 // bytes of all
	maxListed   = 64       // directories
	maxEntries  = 512      // names of one
)

// keepHeld notes the files in which a call showed a secret. Their names tell of none, so that
// nobody would know when one is sent as a whole.
func (g *Gate) keepHeld(ctx context.Context, ev *hook.Event, f *hook.Facts, kept *seen.Seen) error {
	ledger, known := g.origins()
	if !known || f == nil {
		return nil
	}
	var moves []origin.Move
	files, bytes := maxHeld, maxHeldAll
	for name := range g.showing(ev, f, kept.Named) {
		if files == 0 || bytes <= 0 {
			break
		}
		if forPeople(name) || g.Reader.Secret(name) != "" {
			continue
		}
		text := g.textOf(name, min(bytes, maxHeldFile))
		if text == "" {
			continue
		}
		files, bytes = files-1, bytes-len(text)
		what := kept.Has(text)
		if what == "" && len(text) <= maxManifest {
			what = kept.Holds(text)
		}
		if what != "" {
			moves = append(moves, origin.Move{Path: name, Secret: origin.Held(what)})
		}
	}
	slices.SortFunc(moves, func(a, b origin.Move) int { return strings.Compare(a.Path, b.Path) })
	return ledger.Add(ctx, keyOf(ev), callOf(ev), moves, ev.Gate.Now)
}

// showing yields the files that a call may have shown, each once, certain ones first. They are
// files that the call reads by name, that its output names, or that lie in a directory or fit a
// pattern that it reads.
func (g *Gate) showing(ev *hook.Event, f *hook.Facts, named func(*hook.Event) []string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		had := map[string]bool{}
		next := func(name string) bool {
			if had[name] {
				return true
			}
			had[name] = true
			return yield(name)
		}
		var groups []string // directories, and patterns
		for i := range f.Paths {
			p := &f.Paths[i]
			if p.Access != "read" || p.Path == nil {
				continue
			}
			if p.Glob || g.isDir(*p.Path) {
				groups = append(groups, path.Clean(*p.Path))
			} else if !next(*p.Path) {
				return
			}
		}
		if f.Shell == nil && len(groups) == 0 {
			return
		}
		places := placesOfCall(ev, f, groups)
		for _, name := range named(ev) {
			for _, dir := range places {
				full := path.Join(dir, name)
				if path.IsAbs(name) {
					full = path.Clean(name)
				}
				if inAny(places, full) && !next(full) {
					return
				}
			}
		}
		for _, group := range groups {
			dir, pattern := cutPattern(group)
			if !g.listed(dir, pattern, next) {
				return
			}
		}
	}
}

// placesOfCall are the directories from which a call's output may name files.
func placesOfCall(ev *hook.Event, f *hook.Facts, groups []string) (dirs []string) {
	add := func(dir string) {
		if path.IsAbs(dir) && !slices.Contains(dirs, dir) && len(dirs) < maxListed {
			dirs = append(dirs, dir)
		}
	}
	if f.Shell != nil {
		for i := range f.Shell.Commands {
			if dir := f.Shell.Commands[i].Dir; dir != nil {
				add(*dir)
			}
		}
	}
	add(path.Clean(ev.Text("cwd")))
	for _, group := range groups {
		dir, _ := cutPattern(group)
		add(dir)
	}
	return dirs
}

func inAny(dirs []string, name string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
	})
}

// lstat describes a file without following a link.
func (g *Gate) lstat(name string) (fs.FileInfo, error) {
	if g.Files != nil {
		return g.Files.Lstat(name)
	}
	return hostfs.Files{}.Lstat(name)
}

// hostNames are names in a directory of this machine.
func hostNames(dir string) ([]string, error) { return hostfs.Files{}.Names(dir, maxEntries) }

// isDir reports a directory, a link to one included.
func (g *Gate) isDir(name string) bool {
	if g.Files != nil {
		info, err := g.Files.Lstat(name)
		return err == nil && info.IsDir()
	}
	_, err := hostfs.Files{}.Names(name, 1)
	return err == nil
}

// cutPattern parts a path where its first pattern begins: the directory before it, and the
// rest.
func cutPattern(name string) (dir, rest string) {
	at := strings.IndexAny(name, "*?[{")
	if at < 0 {
		return name, ""
	}
	at = strings.LastIndexByte(name[:at], '/')
	return name[:max(at, 1)], name[at+1:]
}

// listed yields the files of a directory and of those below it, those above first, as far as
// their names fit the last part of a pattern; "" is any.
func (g *Gate) listed(dir, pattern string, yield func(string) bool) bool {
	if pattern = path.Base(pattern); strings.ContainsAny(pattern, "{") || pattern == "." {
		pattern = "*"
	}
	dirs := []string{dir}
	for at := 0; at < len(dirs); at++ {
		for _, name := range g.namesOf(dirs[at]) {
			full := path.Join(dirs[at], name)
			info, err := g.lstat(full)
			fits, _ := path.Match(pattern, name)
			switch {
			case err != nil || name == ".git" || name == "node_modules":
			case !info.IsDir():
				if fits && !yield(full) {
					return false
				}
			case len(dirs) < maxListed:
				dirs = append(dirs, full)
			}
		}
	}
	return true
}
