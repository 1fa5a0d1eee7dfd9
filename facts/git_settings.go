package facts

import "strings"

// gitSettings are values of git's configuration by key, section and name in
// lower case, the last one counting.
type gitSettings map[string][]string

func (g gitSettings) last(key string) string {
	if v := g[key]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// maxGitConfig is far more than a configuration file holds.
const maxGitConfig = 256 << 10

// gitSettings reads the user's and the repository's configuration, and what
// the line itself sets with -c. Included files are not read.
func (u *use) gitSettings() gitSettings {
	g := gitSettings{}
	var files []string
	if u.world.Home != "" {
		files = append(files, u.world.Home+"/.config/git/config", u.world.Home+"/.gitconfig")
	}
	if git := u.gitDir(); git != "" {
		// A worktree's configuration is that of its repository.
		common, _, _ := strings.Cut(git, "/.git/worktrees/")
		if common != git {
			git = common + "/.git"
		}
		files = append(files, git+"/config")
	}
	for _, name := range files {
		if text, err := u.world.read(name, maxGitConfig); err == nil {
			g.parse(text)
		}
	}
	for _, f := range u.opts["c"] {
		if key, value, ok := strings.Cut(f.text(), "="); ok {
			g.set(key, value)
		}
	}
	return g
}

// set adds a value. Only section and name ignore case, not what is between.
func (g gitSettings) set(key, value string) {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return
	}
	key = strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
	g[key] = append(g[key], value)
}
