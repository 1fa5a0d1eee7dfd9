package program

import (
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/gitconfig"
	"gate/facts/internal/peer"
	"gate/hook"
)

// A pushed says what a git push moves on the remote.
type pushed struct {
	branches []string
	from     string // refspec, head, config, unknown
	force    bool
	del      bool
	all      bool // every branch, by a pattern
}

// gitPush works out which branches a push moves, and how.
func (u *use) gitPush() {
	if u.has("dry-run") || u.pushesToScratch() {
		return
	}
	var remote *string
	refs := u.rest
	if len(refs) > 0 {
		if remote = refs[0].Value(); remote == nil && strings.Contains(refs[0].Prefix(), "://") && peer.Parse(refs[0].Text(), true).Host != "" {
			remote = new(refs[0].Text()) // a token in it is not known
		}
		refs = refs[1:]
	}
	p := pushed{from: "refspec", force: u.has("force"), del: u.has("delete")}
	for _, f := range refs {
		vs, known := f.Variants()
		if !known {
			p.from = "unknown"
			u.unknown("word", "which branch is pushed is not known", f.Span)
			p.force = p.force || strings.HasPrefix(f.Prefix(), "+")
			p.del = p.del || strings.HasPrefix(f.Prefix(), ":")
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
	is := &hook.GitPush{
		Remote: remote, Branches: p.branches, BranchesFrom: p.from, Force: p.force, Lease: u.has("force-with-lease"), All: all || p.all, Mirror: mirror, Tags: u.has("tags") || u.has("follow-tags"), Delete: p.del || u.has("prune"),
	}
	u.gitPushes(is)
	u.effect(is)
	if remote != nil && (strings.Contains(*remote, "://") || strings.Contains(*remote, "@")) {
		u.peer("host", flow.Literal(*remote))
	}
}

// pushesToScratch reports a remote that is written as a path below a temporary
// directory, and is no name for another one.
func (u *use) pushesToScratch() bool {
	if len(u.rest) == 0 || !strings.HasPrefix(u.rest[0].Prefix(), "/") || !u.setsNothing() || !u.inTemp(u.rest[:1]) {
		return false
	}
	for key := range u.gitSettings() {
		if strings.HasPrefix(key, "url.") || strings.HasPrefix(key, "remote."+u.rest[0].Text()+".") {
			return false
		}
	}
	return true
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
	for _, prefix := range []string{"refs/heads/", "heads/"} {
		dst = strings.TrimPrefix(dst, prefix)
	}
	p.all = p.all || dst == "*"
	if dst != "HEAD" && dst != "@" {
		p.branches = append(p.branches, dst)
		return
	}
	for _, head := range u.headBranches() {
		p.add(head, p.from)
	}
}

// add adds a branch, "" for one that is not known, and where it is known from.
func (p *pushed) add(branch, from string) {
	if branch == "" {
		p.from = "unknown"
		return
	}
	p.branches = append(p.branches, branch)
	if p.from != "unknown" {
		p.from = from
	}
}

// pushWithoutRefspec finds what git's settings and the branch that is checked
// out make of a push that names no branch. It reports a remote that is a
// mirror.
func (u *use) pushWithoutRefspec(p *pushed, remote *string) (mirror bool) {
	settings := u.gitSettings()
	p.from = "config"
	for _, head := range u.headBranches() {
		mirror = u.pushHead(p, remote, head, settings) || mirror
	}
	return mirror
}

// pushHead is pushWithoutRefspec for one branch that may be checked out.
func (u *use) pushHead(p *pushed, remote *string, head string, settings gitconfig.Settings) (mirror bool) {
	name, ok := flow.Text(remote), remote != nil
	for _, key := range []string{"branch." + head + ".pushremote", "remote.pushdefault", "branch." + head + ".remote"} {
		if v := settings.Last(key); !ok && v != "" {
			name, ok = v, true
		}
	}
	if !ok {
		name = "origin"
	}
	if specs := settings["remote."+name+".push"]; len(specs) > 0 {
		for _, v := range specs {
			u.refspec(p, v)
		}
		return false
	}
	upstream := strings.TrimPrefix(settings.Last("branch."+head+".merge"), "refs/heads/")
	switch mode := strings.ToLower(settings.Last("push.default")); {
	case settings.Last("remote."+name+".mirror") == "true":
		return true
	case mode == "nothing":
	case mode == "matching":
		p.from = "unknown"
	case mode == "upstream" || mode == "tracking":
		p.add(upstream, "config")
	default:
		p.add(head, "head")
	}
	return false
}
