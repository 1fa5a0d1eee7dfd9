package facts

import (
	"strings"
)

// A pushed says what a git push moves on the remote.
type pushed struct {
	branches []any
	from     string // refspec, head, config, unknown
	force    bool
	del      bool
}

// gitPush works out which branches a push moves, and how.
func (u *use) gitPush() {
	if u.has("dry-run") {
		return
	}
	var remote any
	refs := u.rest
	if len(refs) > 0 {
		remote, refs = textOrNil(refs[0]), refs[1:]
	}
	p := pushed{branches: []any{}, from: "refspec", force: u.has("force"), del: u.has("delete")}
	for _, f := range refs {
		vs, known := f.variants()
		if !known {
			p.from = "unknown"
			u.unknown("word", "which branch is pushed is not known", u.id, f.span)
			p.force = p.force || strings.HasPrefix(f.prefix(), "+")
			continue
		}
		for _, v := range vs {
			u.refspec(&p, v)
		}
	}
	all, mirror := u.has("all") || u.has("branches"), u.has("mirror")
	if len(refs) == 0 && !all && !mirror && !u.has("tags") {
		mirror = u.pushWithoutRefspec(&p, remote)
	}
	u.effect("git.push", u.id, map[string]any{
		"remote": remote, "branches": p.branches, "branches_from": p.from, "force": p.force, "lease": u.has("force-with-lease"),
		"all": all, "mirror": mirror, "tags": u.has("tags") || u.has("follow-tags"), "delete": p.del || u.has("prune"),
	})
	if text, ok := remote.(string); ok && (strings.Contains(text, "://") || strings.Contains(text, "@")) {
		u.peer("host", literalField(text))
	}
}

// refspec adds the branch that a refspec moves.
func (u *use) refspec(p *pushed, v string) {
	v, forced := strings.CutPrefix(v, "+")
	p.force = p.force || forced
	src, dst, ok := strings.Cut(v, ":")
	switch {
	case !ok:
		dst = src
	case src == "" && dst == "": // all branches that are on both sides
		p.from = "unknown"
		return
	case src == "":
		p.del = true
	}
	dst = strings.TrimPrefix(dst, "refs/heads/")
	if dst == "HEAD" || dst == "@" {
		if dst = u.headBranch(); dst == "" {
			p.from = "unknown"
			return
		}
	}
	p.branches = append(p.branches, dst)
}

// pushWithoutRefspec finds what git's settings and the branch that is checked
// out make of a push that names no branch. It reports a remote that is a
// mirror.
func (u *use) pushWithoutRefspec(p *pushed, remote any) (mirror bool) {
	head := u.headBranch()
	settings := u.gitSettings()
	name, ok := remote.(string)
	for _, key := range []string{"branch." + head + ".pushremote", "remote.pushdefault", "branch." + head + ".remote"} {
		if v := settings.last(key); !ok && v != "" {
			name, ok = v, true
		}
	}
	if !ok {
		name = "origin"
	}
	p.from = "config"
	if specs := settings["remote."+name+".push"]; len(specs) > 0 {
		for _, v := range specs {
			u.refspec(p, v)
		}
		return false
	}
	upstream, known := strings.CutPrefix(settings.last("branch."+head+".merge"), "refs/heads/")
	switch mode := strings.ToLower(settings.last("push.default")); {
	case settings.last("remote."+name+".mirror") == "true":
		return true
	case mode == "nothing":
	case head == "", mode == "matching":
		p.from = "unknown"
	case (mode == "upstream" || mode == "tracking") && known:
		p.branches = append(p.branches, upstream)
	case mode == "upstream" || mode == "tracking":
		p.from = "unknown"
	default:
		p.branches, p.from = append(p.branches, head), "head"
	}
	return false
}

// headBranch reads which branch is checked out, "" if that is not known.
func (u *use) headBranch() string {
	git := u.gitDir()
	if git == "" {
		return ""
	}
	text, err := u.world.read(git+"/HEAD", 4096)
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
	if len(u.s.dirs) != 1 {
		return ""
	}
	for dir := u.s.dirs[0]; ; dir = parent(dir) {
		git := strings.TrimSuffix(dir, "/") + "/.git"
		if text, err := u.world.read(git, 4096); err == nil {
			if to, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir: "); ok {
				git = to
			}
		}
		if _, err := u.world.read(git+"/HEAD", 4096); err == nil {
			return git
		}
		if dir == "/" {
			return ""
		}
	}
}
