package program

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/glob"
	"gate/facts/internal/world"
	"gate/hook"
	"gate/internal/origin"
)

// The parts of a repository that hold files: what is about to be committed, and what is.
const (
	staged    = "staged/"
	committed = "commit/"
	onRemote  = "pushed/" // of commits what a remote has: pushed/REMOTE/NAME
)

// gitCarries follows files with a secret into the index of a repository and into its
// commits, and out again.
func (u *use) gitCarries() {
	if len(u.verbs) == 0 || u.at().Remote || u.has("dry-run") || u.has("intent-to-add") {
		return
	}
	switch u.verbs[0] {
	case "add", "stage":
		u.gitTakesUp(staged, u.gitNamed(u.has("all") || u.has("update")), u.has("update"))
	case "commit":
		u.gitCommits()
	case "notes", "tag":
		u.gitTakesUp(committed, slices.Concat(u.opts["F"], u.opts["file"]), false)
	case "mv":
		if len(u.rest) > 1 {
			for _, f := range u.rest[:len(u.rest)-1] {
				u.arrivesAll(f, u.rest[len(u.rest)-1])
			}
		}
	case "hash-object":
		u.gitTakesUp(committed, u.rest, false)
	case "reset", "rm", "restore":
		u.gitUnstages()
	case "rebase", "filter-repo", "filter-branch":
		u.gitBlurs()
	case "bundle", "archive":
		u.gitPacks()
	}
}

// gitRepository is the directory in which git keeps what it has taken up, and the one
// whose files it is about.
func (u *use) gitRepository() (git, tree string) {
	if git = u.gitDir(); git == "" {
		git = u.World.Project + "/.git"
	}
	tree, ok := strings.CutSuffix(git, "/.git")
	if !ok {
		tree = u.World.Project // of a worktree
	}
	return git, tree
}

// gitNamed are the files that the words name, or all of the repository.
func (u *use) gitNamed(all bool) (words []flow.Word) {
	for _, f := range u.rest {
		if f = pathspec(f); len(f.Parts) > 0 {
			words = append(words, f)
		}
	}
	if len(words) == 0 && all {
		_, tree := u.gitRepository()
		words = []flow.Word{flow.Literal(tree)}
	}
	return words
}

// gitTakesUp notes the files with a secret that go into a part of the repository. A name
// alone is no secret here: fixtures have such names. tracked leaves out those that git
// has not taken up before.
func (u *use) gitTakesUp(into string, words []flow.Word, tracked bool) {
	git, tree := u.gitRepository()
	for _, s := range u.withOrigin(words) {
		name, inside := strings.CutPrefix(s.Path, tree+"/")
		_, _, part := origin.CutPart(s.Path)
		switch {
		case origin.IsHeld(s.Taint.Secret) && !u.gitKeepsOut(git, tree, s.Path):
		case s.Taint.Secret == "" || !inside || part || world.Below(s.Path, git), s.Named && !u.wroteSecret(s.Path):
		case tracked && !u.gitTracks(git, name), !tracked && !u.has("force") && u.gitIgnores(tree, name) && !u.gitTracks(git, name):
		default:
			u.gitHas(git, into, name, flow.Taint{Secret: s.Taint.Secret, From: s.Path})
		}
	}
}

// gitKeepsOut reports a file whose text stands in one that the repository's owner keeps out
// of it. A file with a secret that is not kept out, such as a fixture, may be for all.
func (u *use) gitKeepsOut(git, tree, file string) bool {
	from := cmp.Or(u.Files[file].Taint.From, u.Left(file).From, file)
	name, ok := strings.CutPrefix(from, tree+"/")
	return !ok || u.gitIgnores(tree, name) && !u.gitTracks(git, name)
}

// gitHas notes that a part of the repository has a file with a secret. Of a new commit no
// remote has anything.
func (u *use) gitHas(git, into, name string, t flow.Taint) {
	u.Part(git, into+name, t)
	if into != committed {
		return
	}
	for _, s := range u.PartsOf(git) {
		if rest, ok := strings.CutPrefix(s.Below, onRemote); ok {
			if _, of, _ := strings.Cut(rest, "/"); of == name {
				u.Part(git, s.Below, flow.Taint{})
			}
		}
	}
}

// wroteSecret reports a file into which a call has put a secret, whatever its name.
func (u *use) wroteSecret(file string) bool {
	return u.Files[file].Taint.Secret != "" || u.Left(file).Secret != ""
}

// gitCommits has what is staged committed.
func (u *use) gitCommits() {
	git, _ := u.gitRepository()
	if u.has("amend") {
		u.gitBlurs()
	}
	for _, s := range u.PartsOf(git) {
		if name, ok := strings.CutPrefix(s.Below, staged); ok {
			u.gitHas(git, committed, name, s.Taint)
			u.Part(git, s.Below, flow.Taint{})
		}
	}
	u.gitTakesUp(committed, u.gitNamed(u.has("all")), true)
	u.gitTakesUp(committed, u.opts["file"], false)
}

// gitUnstages takes files out of what is about to be committed. A reset to another
// commit may take them out of commits, too.
func (u *use) gitUnstages() {
	if u.verbs[0] == "restore" && !u.has("staged") || u.verbs[0] == "rm" && !u.has("cached") && len(u.rest) == 0 {
		return
	}
	git, tree := u.gitRepository()
	var names []string
	for _, f := range u.rest {
		for _, t := range u.targets(pathspec(f)) {
			if name, ok := strings.CutPrefix(t.Path, tree+"/"); ok {
				names = append(names, name)
			} else if t.Path == tree {
				names = append(names, "*")
			}
		}
	}
	if u.verbs[0] == "reset" && (len(u.rest) == 0 || strings.ContainsAny(u.rest[0].Text(), "~^@") || !strings.ContainsAny(u.rest[0].Text(), "./")) {
		if len(u.rest) > 0 && u.rest[0].Text() != "HEAD" {
			u.gitBlurs()
		}
		if len(u.rest) < 2 {
			names = []string{"*"}
		}
	}
	if u.has("soft") {
		return
	}
	for _, s := range u.PartsOf(git) {
		name, ok := strings.CutPrefix(s.Below, staged)
		if ok && slices.ContainsFunc(names, func(pattern string) bool {
			return pattern == "*" || world.Below(name, pattern) || glob.Wild(pattern) && glob.MayPath(pattern, name)
		}) {
			u.Part(git, s.Below, flow.Taint{})
		}
	}
}

// gitBlurs has commits changed: nobody knows which files are still in them.
func (u *use) gitBlurs() {
	git, _ := u.gitRepository()
	for _, s := range u.PartsOf(git) {
		if name, ok := strings.CutPrefix(s.Below, committed); ok {
			u.Part(git, s.Below, flow.Taint{Secret: s.Taint.Secret})
			if u.has("soft") {
				u.Part(git, staged+name, s.Taint)
			}
		}
	}
}

// gitHolds is the secret of a file in the commits of the repository, and not in those that a
// remote has; "" is none.
func (u *use) gitHolds(remote string) (held flow.Taint) {
	git, _ := u.gitRepository()
	parts := u.PartsOf(git)
	has := map[string]bool{}
	for _, s := range parts {
		if name, ok := strings.CutPrefix(s.Below, onRemote+remote+"/"); ok && remote != "" {
			has[name] = true
		}
	}
	for _, s := range parts {
		if name, ok := strings.CutPrefix(s.Below, committed); ok && !has[name] && (held.Secret == "" || held.Coarse && s.Taint.From != "") {
			held = flow.Taint{Secret: s.Taint.Secret, From: s.Taint.From, Coarse: s.Taint.From == ""}
		}
	}
	return held
}

// gitPushes says what goes along with a push, and that it is no news any more for the remote.
func (u *use) gitPushes(is *hook.GitPush) {
	if is.Delete && len(u.rest) < 3 && u.has("delete") {
		return
	}
	remote := u.pushesTo(is)
	u.Carry(is, u.gitHolds(remote))
	git, _ := u.gitRepository()
	for _, s := range u.PartsOf(git) {
		if name, ok := strings.CutPrefix(s.Below, committed); ok && remote != "" {
			u.Part(git, onRemote+remote+"/"+name, s.Taint)
		}
	}
}

// pushesTo is a name for the remote of a push that stays the same whatever the remote is
// called: a digest of its address, as git's settings have it. It is "" for one that nobody
// knows.
func (u *use) pushesTo(is *hook.GitPush) string {
	settings := u.gitSettings()
	name := flow.Text(is.Remote)
	if name == "" && len(u.rest) > 0 {
		return "" // a word that is not known
	}
	for _, head := range u.headBranches() {
		for _, key := range []string{"branch." + head + ".pushremote", "remote.pushdefault", "branch." + head + ".remote"} {
			name = cmp.Or(name, settings.Last(key))
		}
	}
	name = cmp.Or(name, "origin")
	digest := uint64(14695981039346656037) // FNV-1a
	for _, c := range []byte(cmp.Or(settings.Last("remote."+name+".pushurl"), settings.Last("remote."+name+".url"), name)) {
		digest = (digest ^ uint64(c)) * 1099511628211
	}
	return strconv.FormatUint(digest, 16)
}

// gitPacks has the commits written into a file or to the output.
func (u *use) gitPacks() {
	held := u.gitHolds("")
	if held.Secret == "" {
		return
	}
	file, ok := u.opt("output")
	if u.verbs[0] == "bundle" && len(u.rest) > 0 {
		file, ok = u.rest[0], true
	}
	if !ok {
		u.Out.Taint = u.Out.Taint.Merge(held)
		return
	}
	u.remember(file, flow.Stream{Some: true, Taint: held, From: u.ID}, false)
}

// gitTracks reports a file that git has taken up: its name stands in the index.
func (u *use) gitTracks(git, name string) bool {
	index, err := u.World.Read(git+"/index", 8<<20)
	return err == nil && strings.Contains(index, name+"\x00")
}

// gitIgnores reports a file that git leaves alone: by the files .gitignore on the way to it,
// of which the last pattern that fits decides.
func (u *use) gitIgnores(tree, name string) (ignored bool) {
	read := func(file, below string) {
		text, err := u.World.Read(file, 64<<10)
		if err != nil {
			return
		}
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, " \r\n")
			pattern, again := strings.CutPrefix(line, "!")
			if pattern != "" && pattern[0] != '#' && ignoredBy(pattern, below) {
				ignored = !again
			}
		}
	}
	git, _ := u.gitRepository()
	read(git+"/info/exclude", name)
	read(tree+"/.gitignore", name)
	for i := range len(name) {
		if name[i] == '/' {
			read(tree+"/"+name[:i]+"/.gitignore", name[i+1:])
		}
	}
	return ignored
}

// ignoredBy reports that a pattern of .gitignore fits a file or a directory above it. One
// with a slash in it begins where its file lies.
func ignoredBy(pattern, name string) bool {
	pattern = strings.TrimSuffix(pattern, "/")
	anchored := strings.Contains(pattern, "/")
	pattern = strings.TrimPrefix(pattern, "/")
	if rest, ok := strings.CutPrefix(pattern, "**/"); ok {
		pattern, anchored = rest, strings.Contains(rest, "/")
	}
	for at := name; at != "."; at = path.Dir(at) {
		if anchored && glob.MayPath(strings.TrimSuffix(pattern, "/**"), at) || !anchored && glob.May(pattern, path.Base(at)) {
			return true
		}
	}
	return false
}
