package world

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"gate/facts/internal/gitconfig"
)

const (
	maxGitConfig   = 256 << 10 // bytes of a file of settings, far more than one holds
	maxGitIncludes = 16        // files of settings that are read: they may include each other
	maxGitLink     = 4096      // bytes of a file that names a directory of git's
)

// systemGitConfig are the files of settings for the whole machine, where git is built as
// usual: of distributions, of Homebrew and of Apple.
const systemGitConfig = "/etc/gitconfig /usr/local/etc/gitconfig"
const appleGitConfig = " /opt/homebrew/etc/gitconfig /Library/Developer/CommandLineTools/usr/share/git-core/gitconfig" +
	" /Applications/Xcode.app/Contents/Developer/usr/share/git-core/gitconfig"

// A GitConfig is what git's settings say, of all files that git would read. Of included
// files, conditions are taken to hold.
type GitConfig struct {
	gitconfig.Settings
	Files []string // that git reads in this order, there or not
	Whole bool     // nothing that counts was left out

	world World
}

// GitConfig reads git's settings of the machine, of the user, and of the repository that
// keeps what is its own in a directory, "" for none. User is the directory of the user's
// settings, which lie below the home directory as well.
func (w World) GitConfig(user, git string) *GitConfig {
	c := &GitConfig{Settings: gitconfig.Settings{}, Whole: true, world: w}
	system := systemGitConfig
	if w.OS == "darwin" {
		system += appleGitConfig
	}
	for name := range strings.FieldsSeq(system) {
		c.Take(name)
	}
	if w.Home != "" {
		c.Take(user + "/git/config")
		c.Take(w.Home + "/.gitconfig")
	}
	if git != "" {
		common, ok := w.GitCommon(git) // a worktree's configuration is that of its repository
		if before, _, cut := strings.Cut(git, "/.git/worktrees/"); !ok && cut {
			common = before + "/.git"
		}
		c.Take(common + "/config")
		if gitconfig.True(c.Last("extensions.worktreeconfig")) {
			c.Take(git + "/config.worktree")
		}
	}
	return c
}

// GitFile reads one file of settings, and those that it includes.
func (w World) GitFile(name string) *GitConfig {
	c := &GitConfig{Settings: gitconfig.Settings{}, Whole: true, world: w}
	c.Take(name)
	return c
}

// Take takes a file of settings in, and those that it includes, in their places.
func (c *GitConfig) Take(name string) {
	if len(c.Files) == maxGitIncludes {
		c.Whole = false
		return
	}
	c.Files = append(c.Files, name)
	text, err := c.world.Read(name, maxGitConfig)
	if err != nil {
		c.Whole = c.Whole && errors.Is(err, fs.ErrNotExist)
		return
	}
	c.Parse(text, func(to string) {
		if strings.HasPrefix(to, "~") && !strings.HasPrefix(to, "~/") || strings.HasPrefix(to, "%") {
			c.Whole = false // of another account, or where git was installed
			return
		}
		c.Take(c.world.GitPath(to, Parent(name)))
	})
}

// GitPath is a path as git's settings write it, seen from a directory.
func (w World) GitPath(name, dir string) string {
	if rest, home := strings.CutPrefix(name, "~/"); home {
		name = w.Home + "/" + rest
	}
	if !strings.HasPrefix(name, "/") {
		name = dir + "/" + name
	}
	return path.Clean(name)
}

// GitCommon is the directory of a repository that the directory of one of its worktrees
// belongs to, or the directory itself; ok is false where the file that says so cannot be
// read.
func (w World) GitCommon(git string) (common string, ok bool) {
	text, err := w.Read(git+"/commondir", maxGitLink)
	if err != nil {
		return git, !w.Exists(git + "/commondir")
	}
	return seenFrom(git, strings.TrimSpace(text)), true
}

// GitLinked is the directory that a file named .git, of a worktree or of a submodule,
// leads to; ok is false where it is no such file.
func (w World) GitLinked(file string) (git string, ok bool) {
	text, err := w.Read(file, maxGitLink)
	to, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir: ")
	return seenFrom(Parent(file), to), err == nil && ok
}

// seenFrom is a path seen from a directory.
func seenFrom(dir, name string) string {
	if strings.HasPrefix(name, "/") {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}
