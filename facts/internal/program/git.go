package program

import (
	"path"
	"slices"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/peer"
	"gate/hook"
)

// gitGlobal judges git's own options: -c sets configuration for one call.
func (u *use) gitGlobal() {
	for _, set := range u.gitOnce() {
		u.gitSetting(set.Name, set.Value, "command", true)
	}
	for _, f := range u.opts["upload-pack"] {
		u.effect(&hook.ExecHidden{Program: "git", Option: "upload-pack", Value: f.Value()})
	}
	if _, ok := u.opt("exec-path"); ok {
		u.effect(&hook.ExecHidden{Program: "git", Option: "exec-path", Value: u.optText("exec-path")})
	}
	if len(u.verbs) > 0 && u.verbs[0] == "clone" {
		for _, f := range u.opts["config"] {
			key, value, _ := f.Cut("=")
			u.gitSetting(key, value, "local", false)
		}
	}
	if len(u.strayed) > 0 && u.verbs[0] == "stash" { // without a verb of its own
		u.gitStash()
	}
	u.gitAliases()
	u.gitTakes()
	u.gitCarries()
	u.gitMakes()
	u.gitPutsAway()
	if r := u.gitDecides(); r != nil && u.ID > 0 {
		u.Facts.Shell.Commands[u.ID-1].Repository = r
	}
}

// gitMakes notes a repository or a worktree that the line makes where nothing was.
func (u *use) gitMakes() {
	if len(u.verbs) == 0 {
		return
	}
	var dir flow.Word
	switch verb := strings.Join(u.verbs, " "); {
	case verb == "init" && len(u.rest) > 0:
		dir = u.rest[0]
	case verb == "init":
		dir = flow.Literal(".")
	case verb == "clone" && len(u.rest) > 1:
		dir = u.rest[1]
	case verb == "clone" && len(u.rest) == 1 && u.rest[0].Literal():
		dir = flow.Literal(strings.TrimSuffix(path.Base(strings.TrimRight(u.rest[0].Text(), "/")), ".git"))
	case verb == "worktree add" && len(u.rest) > 0:
		dir = u.rest[0]
	default:
		return
	}
	if u.verbs[0] == "clone" && strings.ContainsAny(u.rest[0].Text(), ":") {
		u.Spreads(*u.at(), dir, flow.Taint{Remote: true, Host: peer.Parse(u.rest[0].Text(), strings.Contains(u.rest[0].Text(), "://")).Host})
	}
	for _, t := range u.targets(dir) {
		if t.Path != "" && !t.Glob && t.Path != u.World.Project && t.Path != u.World.Home && t.Path != u.World.Dir && !u.World.Exists(t.Path) {
			u.Made = append(u.Made, t.Path)
		}
	}
}

// gitRuns says what a setting's value makes git do.
func gitRuns(key string, value flow.Word) (runs, bypass bool) {
	key = strings.ToLower(key)
	v := value.Text()
	if value.Value() == nil && v == "" {
		v = "unknown" // it is not known, and not empty
	}
	switch {
	case strings.HasPrefix(v, "ext::") || strings.HasPrefix(v, "fd::") || strings.Contains(key, "url.ext::"):
		return true, false
	case key == "core.hookspath":
		return true, true
	case key == "commit.gpgsign" || key == "tag.gpgsign":
		return false, false
	case strings.HasPrefix(key, "man.") && strings.HasSuffix(key, ".cmd"), strings.HasPrefix(key, "browser.") && strings.HasSuffix(key, ".cmd"),
		strings.HasPrefix(key, "guitool.") && strings.HasSuffix(key, ".cmd"), strings.HasPrefix(key, "tar.") && strings.HasSuffix(key, ".command"),
		strings.HasPrefix(key, "trailer.") && (strings.HasSuffix(key, ".command") || strings.HasSuffix(key, ".cmd")):
		return !strings.HasPrefix(v, "gzip ") && !strings.HasPrefix(v, "xz ") && !strings.HasPrefix(v, "git log "), false
	case key == "interactive.difffilter":
		return !strings.HasPrefix(v, "delta") && !strings.HasPrefix(v, "diff-so-fancy"), false
	case strings.HasPrefix(key, "alias."):
		return strings.HasPrefix(v, "!"), false
	case key == "core.pager" || key == "core.editor" || key == "sequence.editor" || strings.HasPrefix(key, "pager."):
		return !harmlessProgram(v) && v != "false" && v != "true", false
	case key == "core.sshcommand":
		return !harmlessProgram(v), false
	case key == "include.path" || strings.HasPrefix(key, "includeif.") && strings.HasSuffix(key, ".path"): // a file may say anything
		return v != "", false
	case key == "core.fsmonitor":
		return v != "true" && v != "false" && v != "", false
	case key == "credential.helper" || strings.HasPrefix(key, "credential.") && strings.HasSuffix(key, ".helper"):
		switch strings.Fields(v + " x")[0] {
		case "cache", "store", "osxkeychain", "manager", "manager-core", "libsecret", "wincred", "x", "oauth":
			return false, false
		}
		return true, false
	case key == "core.askpass", key == "core.gitproxy", key == "core.alternaterefscommand", key == "diff.external", key == "gpg.program", key == "uploadpack.packobjectshook", key == "protocol.ext.allow", key == "init.templatedir", key == "core.attributesfile":
		return v != "", false
	case strings.HasPrefix(key, "filter.") && (strings.HasSuffix(key, ".clean") || strings.HasSuffix(key, ".smudge") || strings.HasSuffix(key, ".process")):
		return !strings.HasPrefix(v, "git-lfs "), false
	case strings.HasPrefix(key, "diff.") && (strings.HasSuffix(key, ".command") || strings.HasSuffix(key, ".textconv")),
		strings.HasPrefix(key, "merge.") && strings.HasSuffix(key, ".driver"),
		strings.HasPrefix(key, "difftool.") && strings.HasSuffix(key, ".cmd"), strings.HasPrefix(key, "mergetool.") && strings.HasSuffix(key, ".cmd"),
		strings.HasPrefix(key, "remote.") && (strings.HasSuffix(key, ".uploadpack") || strings.HasSuffix(key, ".receivepack")),
		strings.HasPrefix(key, "submodule.") && strings.HasSuffix(key, ".update") && strings.HasPrefix(v, "!"),
		strings.HasPrefix(key, "url.") && (strings.HasSuffix(key, ".insteadof") || strings.HasSuffix(key, ".pushinsteadof")),
		strings.HasPrefix(key, "gpg.") && strings.HasSuffix(key, ".program"),
		strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".push") && strings.HasPrefix(v, "+"),
		strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".mirror") && v != "false":
		return true, false
	}
	return false, false
}

// gitRemoteKey reports a setting that says where pushes or fetches go, and whose it is.
func gitRemoteKey(key string) (section, name string, ok bool) {
	section, rest, _ := strings.Cut(key, ".")
	i := strings.LastIndexByte(rest, '.')
	name, last := rest[:max(i, 0)], rest[i+1:]
	switch section + "." + last {
	case "remote.url", "remote.pushurl":
		return section, name, name != ""
	case "remote.pushdefault", "branch.remote", "branch.pushremote":
		return "branch", name, true
	}
	return "", "", false
}

// gitSetting judges one configuration value.
func (u *use) gitSetting(key string, value flow.Word, scope string, once bool) {
	runs, bypass := gitRuns(key, value)
	if bypass && !once && (scope == "local" || scope == "worktree") && u.ownHooks(value) {
		runs, bypass = false, false
	}
	name, alias := strings.CutPrefix(strings.ToLower(key), "alias.")
	if strings.EqualFold(key, "core.hooksPath") && !once {
		u.shell.Set(hooksPath, value)
	}
	if alias && !once {
		u.shell.Set(gitAliasVariable(name), value)
	}
	if v := value.Value(); strings.EqualFold(key, "http.sslverify") && (v == nil || *v == "false" || *v == "0" || *v == "no" || *v == "off") {
		u.effect(&hook.Environment{Variable: new("http.sslVerify"), Value: value.Value(), Runs: "no certificate check"})
	}
	if p := peer.Parse(value.Text(), true); strings.EqualFold(key, "http.proxy") && value.Text() != "" && !p.Private {
		u.effect(&hook.Environment{Variable: new("http.proxy"), Value: value.Value(), Runs: "proxy"})
	}
	if section, name, ok := gitRemoteKey(strings.ToLower(key)); ok && !once && (section == "remote" || strings.ContainsAny(value.Text(), ":/")) {
		u.effect(&hook.GitRemote{Verb: "set-url", Name: flow.Known(name), URL: value.Value()})
	}
	script := scripted(value.Text()) && strings.HasSuffix(strings.ToLower(key), ".editor")
	if once && !runs && !bypass && !script {
		return
	}
	u.effect(&hook.GitConfig{Key: new(strings.ToLower(key)), Value: value.Value(), Scope: scope, Runs: runs, Once: once})
	if bypass {
		u.effect(&hook.GitBypass{What: "hooks", Verb: "config"})
	}
	if text, ok := strings.CutPrefix(value.Prefix(), "!"); ok && !(alias && once) { // which runs when it is called
		u.inside(func() { u.shell.Text(flow.Literal(text), flow.Stream{}) })
	} else if script || runs && strings.ContainsAny(value.Text(), " ;|&") {
		u.inside(func() { u.shell.Text(value, flow.Stream{}) })
	}
}

// gitConfig judges git config: the key, and whether it is set or only read.
func (u *use) gitConfig() {
	scope := "local"
	for _, s := range []string{"global", "system", "worktree"} {
		if u.has(s) {
			scope = s
		}
	}
	words := u.rest
	if len(words) > 0 {
		switch words[0].Text() {
		case "get", "list", "get-all":
			return
		case "set", "add", "replace-all":
			words = words[1:]
		case "unset", "unset-all":
			u.gitUnset(words[1:])
			return
		case "edit":
			return
		}
	}
	if u.has("unset") || u.has("unset-all") {
		u.gitUnset(words)
		return
	}
	if u.has("get") || u.has("get-all") || u.has("list") || u.has("unset") || u.has("get-regexp") || len(words) < 2 {
		return
	}
	u.gitSetting(words[0].Text(), words[1], scope, false)
}

// gitUnset judges what is taken out of the configuration: where a project keeps
// its hooks is what runs them.
func (u *use) gitUnset(keys []flow.Word) {
	if len(keys) > 0 && strings.EqualFold(keys[0].Text(), "core.hooksPath") && u.hasHooksPath() {
		u.effect(&hook.GitBypass{What: "hooks", Verb: "config"})
	}
}

// hooksPath is where a line keeps that it has set core.hooksPath: no variable of a shell
// has such a name.
const hooksPath = "git core.hookspath"

// hasHooksPath reports that the configuration says where hooks lie, or that nobody
// knows whether it does.
func (u *use) hasHooksPath() bool {
	_, set := u.shell.Variable(hooksPath)
	return set || u.gitDir() == "" && !u.inProject() || u.gitSettings().Last("core.hookspath") != ""
}

// merging reports a merge with conflicts, as far as one can see: the repository says
// that there is one, or the line may have begun it, or no repository is found.
func (u *use) merging() bool {
	git := u.gitDir()
	if git == "" || u.mentions(" merge ", " rebase ", " cherry-pick ", " pull ", " revert ", " stash ", " am ", " apply ") {
		return true
	}
	if !u.World.Exists(git + "/index") {
		return true // nobody sees what is in it
	}
	for _, name := range [...]string{"MERGE_HEAD", "REBASE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "sequencer", "AUTO_MERGE"} {
		if u.World.Exists(git + "/" + name) {
			return true
		}
	}
	return false
}

// gitCheckout tells switching a branch from throwing changes away.
func (u *use) gitCheckout() {
	verb := strings.Join(u.verbs, " ")
	if verb == "restore" && u.has("staged") && !u.has("worktree") {
		return
	}
	if (u.has("ours") || u.has("theirs") || u.has("merge") || u.has("conflict")) && u.merging() {
		return // a side of a conflict is chosen
	}
	paths := u.rest
	dashes := false
	for _, w := range u.Given() {
		dashes = dashes || w.Text() == "--" && w.Literal()
	}
	if verb != "restore" {
		u.gitSwitch(verb, dashes)
	}
	force := u.has("force") || u.has("discard-changes")
	switch {
	case verb == "restore":
	case dashes:
		paths = nil
		seen := false
		for _, w := range u.Given() {
			if w.Text() == "--" {
				seen = true
			} else if seen {
				paths = append(paths, w)
			}
		}
	case u.has("pathspec-from-file"):
	case len(paths) > 0 && (paths[len(paths)-1].Text() == "." || paths[len(paths)-1].Text() == ":/" || paths[len(paths)-1].Text() == "*"):
		paths = paths[len(paths)-1:]
	case len(paths) > 1 && verb == "checkout" && !u.has("b") && !u.has("B") && !u.has("orphan") && !u.has("track"):
		paths = paths[1:]
	case !force:
		return
	default:
		paths = nil
	}
	if len(paths) == 0 && !force {
		return
	}
	var list []*string
	all := force && len(paths) == 0
	for _, p := range paths {
		for _, t := range u.targets(pathspec(p)) { // what guards the agent is not brought back from the past either
			u.Classify(u.ID, t, draft.Access{Kind: "write", How: "overwrite", Recursive: t.Area != "project_root"})
		}
		list = append(list, p.Value())
		all = all || p.Text() == "." || p.Text() == ":/" || p.Text() == "*"
	}
	if !u.scratch() {
		u.effect(&hook.GitDiscard{Verb: verb, Paths: list, All: all, Force: force})
	}
}

// gitStash judges what guards the agent and is put back to what was committed.
func (u *use) gitStash() {
	for _, p := range slices.Concat(u.strayed, u.rest) {
		for _, t := range u.targets(pathspec(p)) {
			u.Classify(u.ID, t, draft.Access{Kind: "write", How: "overwrite", Recursive: t.Area != "project_root"})
		}
	}
}

// pathspec is the path in a word of git without the magic before it: :(glob)PATH,
// :/PATH. Of what is left out there is none.
func pathspec(f flow.Word) flow.Word {
	text := f.Prefix()
	if !strings.HasPrefix(text, ":") {
		return f
	}
	if i := strings.IndexByte(text, ')'); i > 0 && text[1] == '(' {
		if strings.Contains(text[:i], "exclude") {
			return flow.Word{}
		}
		return f.From(i + 1)
	}
	if strings.ContainsAny(text[1:min(2, len(text))], "!^") {
		return flow.Word{}
	}
	return f.From(len(text) - len(strings.TrimLeft(text, ":/")))
}
