package program

import (
	"path"
	"strings"

	"gate/facts/internal/gitconfig"
	"gate/facts/internal/world"
)

// maxGitConfig is far more than a configuration file holds.
const maxGitConfig = 256 << 10

// gitconfig.Settings reads the user's and the repository's configuration, and what
// the line itself sets with -c. Of included files, conditions are taken to hold.
func (u *use) gitSettings() gitconfig.Settings {
	g := gitconfig.Settings{}
	var files []string
	if u.World.Home != "" {
		files = append(files, u.World.Home+"/.config/git/config", u.World.Home+"/.gitconfig")
	}
	if git := u.gitDir(); git != "" {
		// A worktree's configuration is that of its repository.
		common, _, _ := strings.Cut(git, "/.git/worktrees/")
		if common != git {
			git = common + "/.git"
		}
		files = append(files, git+"/config")
	}
	left := maxGitIncludes
	for _, name := range files {
		u.gitFile(g, name, &left)
	}
	for _, f := range u.opts["c"] {
		key, value, ok := strings.Cut(f.Text(), "=")
		if ok {
			g.Set(key, value)
		}
		if strings.EqualFold(key, "include.path") {
			u.gitFile(g, u.gitPath(value, "/"), &left)
		}
	}
	return g
}

// maxGitIncludes bounds how many files are read: they may include each other.
const maxGitIncludes = 16

// gitFile takes a configuration file in, and those that it includes, in their
// places.
func (u *use) gitFile(g gitconfig.Settings, name string, left *int) {
	if *left--; *left < 0 {
		return
	}
	text, err := u.World.Read(name, maxGitConfig)
	if err != nil {
		return
	}
	g.Parse(text, func(to string) { u.gitFile(g, u.gitPath(to, world.Parent(name)), left) })
}

// gitPath is a path as git's configuration writes it, seen from a directory.
func (u *use) gitPath(name, dir string) string {
	if rest, home := strings.CutPrefix(name, "~/"); home {
		name = u.World.Home + "/" + rest
	}
	if !strings.HasPrefix(name, "/") {
		name = dir + "/" + name
	}
	return path.Clean(name)
}
