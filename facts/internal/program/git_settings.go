package program

import (
	"path"
	"strconv"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/gitconfig"
)

// gitSettings reads the configuration of the machine, the user and the repository, and what
// the line itself sets with -c. Of included files, conditions are taken to hold.
func (u *use) gitSettings() gitconfig.Settings {
	g, _ := u.gitConfiguration(u.gitDir())
	return g
}

// gitConfiguration is gitSettings for the directory in which a repository keeps what is
// its own, "" for none. whole reports that nothing that counts was left out.
func (u *use) gitConfiguration(git string) (g gitconfig.Settings, whole bool) {
	above, known := u.gitUserDir()
	c := u.World.GitConfig(above, git)
	c.Whole = c.Whole && (known || u.World.Home == "")
	for _, f := range u.opts["c"] {
		c.Whole = c.Whole && f.Value() != nil
	}
	for _, set := range u.gitOnce() {
		if set.Value.Literal() {
			c.Set(set.Name, set.Value.Text())
		} else {
			c.Whole = false
		}
		if strings.EqualFold(set.Name, "include.path") {
			c.Take(u.World.GitPath(set.Value.Text(), "/"))
		}
	}
	return c.Settings, c.Whole
}

// gitUserDir is the directory of the user's settings that XDG_CONFIG_HOME moves.
func (u *use) gitUserDir() (dir string, known bool) {
	value, set := u.environ("XDG_CONFIG_HOME")
	if text := value.Value(); set && text == nil {
		return u.World.Home + "/.config", false
	} else if set && strings.HasPrefix(*text, "/") {
		return path.Clean(*text), true
	}
	return u.World.Home + "/.config", true
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
