package program

import (
	"path"
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/world"
	"gate/internal/wordlist"
)

// hookRows are the verbs of git that run hooks, and the hooks.
const hookRows = `commit | pre-commit prepare-commit-msg commit-msg post-commit post-rewrite
merge pull | pre-merge-commit prepare-commit-msg commit-msg post-merge post-checkout pre-rebase post-rewrite
rebase | pre-rebase post-rewrite post-checkout pre-commit prepare-commit-msg commit-msg post-commit
push | pre-push
checkout switch worktree clone | post-checkout
am | applypatch-msg pre-applypatch post-applypatch
cherry-pick revert | prepare-commit-msg commit-msg post-commit
gc commit merge pull rebase fetch am | pre-auto-gc
commit merge pull rebase push fetch checkout switch branch tag reset update-ref stash am cherry-pick revert worktree clone init remote | reference-transaction
add commit merge pull rebase checkout switch reset stash rm mv restore status diff update-index read-tree apply am cherry-pick revert | post-index-change
hook | reference-transaction post-index-change pre-commit commit-msg prepare-commit-msg pre-push post-checkout post-merge post-commit
`

// unverified are the hooks that --no-verify leaves out.
const unverified = " pre-commit commit-msg pre-merge-commit pre-rebase pre-push applypatch-msg pre-applypatch "

// hooks judges the hooks that a verb of git runs: those that an agent wrote as a whole,
// others by what they do for certain. Tools that keep hooks in a directory of their own
// point core.hooksPath there.
func (u *use) hooks() {
	if len(u.verbs) == 0 {
		return
	}
	for line := range strings.Lines(hookRows) {
		verbs, names, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		if !wordlist.Has(" "+verbs+" ", u.verbs[0]) {
			continue
		}
		for _, dir := range u.hookDirs() {
			for name := range strings.FieldsSeq(names) {
				if !u.has("no-verify") || !wordlist.Has(unverified, name) {
					u.hook(path.Join(dir, name))
				}
			}
		}
	}
}

// hook judges one hook, which runs at the top of the worktree.
func (u *use) hook(file string) {
	_, now := u.Files[file]
	_, changed := u.Pieces[file]
	if !now && !changed && len(u.Links) == 0 && !u.World.Exists(file) { // most, at no cost
		return
	}
	defer u.shell.Fork()()
	if dir := strings.TrimSuffix(u.gitDir(), "/.git"); dir != "" && dir != u.gitDir() {
		u.at().Dirs = []string{dir}
	}
	if u.judgesText("shell", file) {
		return
	}
	if text, ok := u.Pieces[file]; ok {
		u.shell.Enter("changes to "+file, func() { u.surely(func() { u.recipe("shell", file, text) }) })
	}
	if text, err := u.World.Read(file, maxScript); err == nil {
		u.shell.Enter("recipe "+file, func() { u.certainly(func() { u.recipe("shell", file, text) }) })
	}
}

// hookDirs are the directories that hooks may lie in.
func (u *use) hookDirs() (dirs []string) {
	git := u.gitDir()
	if git == "" { // the line may make it
		for _, at := range u.at().Dirs {
			for dir := at; world.Below(dir, u.World.Project); dir = path.Dir(dir) {
				dirs = append(dirs, dir+"/.git/hooks", dir+"/.husky", dir+"/.githooks")
				if dir == "/" {
					break
				}
			}
		}
		return dirs
	}
	common, _, _ := strings.Cut(git, "/.git/worktrees/")
	top := strings.TrimSuffix(git, "/.git")
	dirs = append(dirs, strings.TrimSuffix(common, "/.git")+"/.git/hooks", top+"/.husky")
	if set, ok := u.shell.Variable(hooksPath); ok && set.Value.Value() != nil {
		dirs = append(dirs, u.World.GitPath(*set.Value.Value(), top))
	} else if name := u.gitSettings().Last("core.hookspath"); name != "" {
		dirs = append(dirs, u.World.GitPath(name, top))
	} else if len(u.Files) > 0 {
		dirs = append(dirs, top+"/.githooks")
	}
	return dirs
}

// ownHooks reports a directory of the project that holds hooks, where none ran before: to
// switch them on is no bypass. It judges what they do, as if they ran.
func (u *use) ownHooks(value flow.Word) bool {
	git, name := u.gitDir(), value.Value()
	top := strings.TrimSuffix(git, "/.git")
	if git == "" || top == git || name == nil || *name == "" {
		return false
	}
	dir := u.World.GitPath(*name, top)
	if real, ok := u.World.Resolve(dir, u.Links, true); !ok || real != dir || dir == top || !world.Below(dir, top) || world.Below(dir, git) {
		return false
	}
	settings, whole := u.gitConfiguration(git)
	if had := settings.Last("core.hookspath"); !whole || had != "" && u.World.GitPath(had, top) != dir {
		return false // those would not run any more, or nobody knows of which
	}
	var list []string
	had := map[string]bool{}
	for _, hook := range strings.Fields(hookRows) { // verbs among them, which no hook is named like
		if had[hook] || hook == "|" {
			continue
		}
		had[hook] = true
		if u.World.Exists(path.Join(git, "hooks", hook)) {
			return false
		}
		file := path.Join(dir, hook)
		if _, now := u.Files[file]; now || u.World.Exists(file) {
			list = append(list, file)
		}
	}
	for _, file := range list {
		u.inside(func() { u.hook(file) })
	}
	return len(list) > 0
}
