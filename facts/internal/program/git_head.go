package program

import (
	"slices"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/world"
)

// gitSwitch notes which branch is checked out from here on.
func (u *use) gitSwitch(verb string, dashes bool) {
	git := u.gitDir()
	if git == "" {
		return
	}
	for _, option := range []string{"b", "B", "create", "force-create", "orphan"} {
		if fs := u.opts[option]; len(fs) > 0 {
			u.current().Heads = draft.Heads{Git: git, Names: []string{fs[0].Text()}}
			return
		}
	}
	if u.has("detach") {
		u.current().Heads = draft.Heads{Git: git, Names: []string{""}}
		return
	}
	if len(u.rest) != 1 || dashes || u.has("patch") || u.has("pathspec-from-file") {
		return
	}
	name := ""
	if v := u.rest[0].Value(); v != nil && *v != "-" {
		name = strings.TrimPrefix(*v, "refs/heads/")
		if u.has("track") {
			_, name, _ = strings.Cut(name, "/")
		}
	}
	names := []string{name}
	if verb == "checkout" && !u.isBranch(git, name) {
		names = append(names, draft.Unmoved) // it may be a file
	}
	u.current().Heads = draft.Heads{Git: git, Names: names}
}

// isBranch reports a branch that the repository has.
func (u *use) isBranch(git, name string) bool {
	return name != "" && u.hasRef(git, "refs/heads/"+name)
}

// hasRef reports a reference of a repository, by its whole name.
func (u *use) hasRef(git, ref string) bool {
	if strings.Contains(ref, "..") {
		return false
	}
	if _, err := u.World.Read(git+"/"+ref, 4096); err == nil {
		return true
	}
	packed, err := u.World.Read(git+"/packed-refs", 1<<20)
	return err == nil && strings.Contains(packed, " "+ref+"\n")
}

// headBranches are the branches that may be checked out, "" for one that is not
// known.
func (u *use) headBranches() []string {
	git := u.gitDir()
	if git == "" {
		return []string{""}
	}
	if u.current().Heads.Git != git {
		return []string{u.fileHead(git)}
	}
	var names []string
	for _, name := range u.current().Heads.Names {
		if name == draft.Unmoved {
			name = u.fileHead(git)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// fileHead reads which branch is checked out.
func (u *use) fileHead(git string) string {
	text, err := u.World.Read(git+"/HEAD", 4096)
	if err != nil {
		return ""
	}
	branch, ok := strings.CutPrefix(strings.TrimSpace(text), "ref: refs/heads/")
	if !ok {
		return ""
	}
	return branch
}

// gitDir finds the repository that a command works in, following worktrees'
// .git file.
func (u *use) gitDir() string {
	_, set := u.shell.Variable("GIT_DIR")
	for _, e := range u.Env {
		set = set || e.Name == "GIT_DIR"
	}
	if set || len(u.at().Dirs) != 1 || u.has("git-dir") {
		return ""
	}
	for dir := u.at().Dirs[0]; ; dir = world.Parent(dir) {
		git := strings.TrimSuffix(dir, "/") + "/.git"
		if text, err := u.World.Read(git, 4096); err == nil {
			if to, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir: "); ok {
				git = to
			}
		}
		if _, err := u.World.Read(git+"/HEAD", 4096); err == nil {
			return git
		}
		if dir == "/" {
			return ""
		}
	}
}

// scratch reports that git works in a repository below a temporary directory,
// or takes such worktrees away: what it throws away there is no more than what
// rm may take. A stash belongs to all worktrees, wherever they lie.
func (u *use) scratch() bool {
	if u.name != "git" || len(u.at().Dirs) != 1 || u.has("git-dir") || u.has("work-tree") || u.verbs[0] == "stash" {
		return false
	}
	in := []flow.Word{flow.Literal(".")}
	if u.verbs[0] == "worktree" {
		in = u.rest
	}
	if u.inMade(in) {
		return true
	}
	return u.setsNothing() && u.inTemp(in) && u.gitSettings().Last("core.worktree") == ""
}

// inMade reports words that name nothing but what lies in repositories that the line
// itself has made.
func (u *use) inMade(words []flow.Word) bool {
	for _, f := range words {
		for _, t := range u.targets(f) {
			if t.Path == "" || t.Resolved != "" || !slices.ContainsFunc(u.Made, func(dir string) bool { return world.Below(t.Path, dir) }) {
				return false
			}
		}
	}
	return len(words) > 0 && len(u.Made) > 0 && u.setsNothing()
}

// setsNothing reports that the line leaves git's settings and variables alone,
// which may lead it anywhere.
func (u *use) setsNothing() bool {
	_, dir := u.World.Env("GIT_DIR")
	_, tree := u.World.Env("GIT_WORK_TREE")
	return !dir && !tree && !u.shell.Exports() && len(u.Via) == 0 && !u.mentions("GIT_DIR", "GIT_WORK_TREE") && !u.configures()
}

// configures reports a command of git, or of what may start git, with the verb config.
// Other programs have such a verb, too.
func (u *use) configures() bool {
	for _, c := range u.Commands() {
		git, verb := false, false
		for _, w := range c.Words {
			git, verb = git || strings.Contains(flow.Text(w.Value), "git"), verb || flow.Text(w.Value) == "config"
		}
		if verb && (git || flow.Text(c.Program) == "git") {
			return true
		}
	}
	return false
}

// inTemp reports words that name nothing but what lies below temporary
// directories.
func (u *use) inTemp(words []flow.Word) bool {
	for _, f := range words {
		for _, t := range u.targets(f) {
			if t.Followed != "temp" {
				return false
			}
		}
	}
	return len(words) > 0
}
