package program

import (
	"path"
	"strconv"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
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
	for _, set := range u.gitOnce() {
		if set.Value.Literal() {
			g.Set(set.Name, set.Value.Text())
		}
		if strings.EqualFold(set.Name, "include.path") {
			u.gitFile(g, u.gitPath(set.Value.Text(), "/"), &left)
		}
	}
	return g
}

// maxGitEnvironment bounds the settings that git takes from numbered variables.
const maxGitEnvironment = 32

// gitOnce are the settings of this call alone: those of -c and --config-env, and of
// GIT_CONFIG_COUNT in the environment.
func (u *use) gitOnce() (list []draft.Setting) {
	for _, f := range u.opts["c"] {
		if key, value, ok := f.Cut("="); ok {
			list = append(list, draft.Setting{Name: key, Value: value})
		} else {
			list = append(list, draft.Setting{Name: f.Text(), Value: flow.Literal("true")})
		}
	}
	for _, f := range u.opts["config-env"] {
		key, name, _ := f.Cut("=")
		value := flow.Unknown(&flow.Hole{Why: "a configuration value from the environment"})
		if v := name.Value(); v != nil {
			if held, set := u.environ(*v); set && held.Value() != nil {
				value = held
			}
		}
		list = append(list, draft.Setting{Name: key, Value: value})
	}
	count, set := u.environ("GIT_CONFIG_COUNT")
	n, known := count.Number()
	if !set {
		return list
	}
	if !known {
		n = maxGitEnvironment
	}
	for i := range min(n, maxGitEnvironment) {
		key, _ := u.environ("GIT_CONFIG_KEY_" + strconv.Itoa(i))
		value, _ := u.environ("GIT_CONFIG_VALUE_" + strconv.Itoa(i))
		if v := key.Value(); v != nil && *v != "" {
			list = append(list, draft.Setting{Name: *v, Value: value})
		}
	}
	return list
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
