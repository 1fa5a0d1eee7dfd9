package program

import (
	"path"
	"slices"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/world"
)

// gitPutsAway judges lines that put a whole worktree into another state, and with it
// the settings of the project by which alone gate stands before the agent.
func (u *use) gitPutsAway() {
	if len(u.verbs) == 0 || !slices.Contains([]string{"stash", "reset", "switch", "checkout"}, u.verbs[0]) {
		return
	}
	git := u.gitDir()
	if git == "" {
		return
	}
	guards := u.World.GuardsOfProject()
	if len(guards) == 0 {
		return
	}
	takes := u.takenAway(git)
	if takes == nil {
		return
	}
	for _, file := range guards {
		if !takes(u.World.Tracked(git, strings.TrimSuffix(git, "/.git"), file)) {
			continue
		}
		for _, t := range u.targets(flow.Literal(file)) {
			u.Classify(u.ID, t, draft.Access{Kind: "write", How: "overwrite"})
		}
	}
}

// takenAway returns which files the line takes away, nil where it names paths or
// takes none.
func (u *use) takenAway(git string) func(world.Tracking) bool {
	changed := func(t world.Tracking) bool { return t == world.Changed }
	tracked := func(t world.Tracking) bool { return t != world.Untracked }
	switch verb := strings.Join(u.verbs, " "); verb {
	case "stash", "stash push", "stash save":
		switch {
		case len(u.strayed) > 0 || verb == "stash push" && len(u.rest) > 0 && !slices.ContainsFunc(u.rest, wide) || u.has("staged") || u.has("patch"):
			return nil
		case u.has("include-untracked") || u.has("all"):
			return func(t world.Tracking) bool { return t != world.Unchanged }
		}
		return changed
	case "reset":
		switch {
		case !u.has("hard") && !u.has("merge") && !u.has("keep"):
			return nil
		case len(u.rest) > 0 && u.rest[0].Text() != "HEAD":
			return tracked
		}
		return changed
	case "switch", "checkout":
		switch {
		case u.has("patch") || u.has("pathspec-from-file"):
			return nil
		case verb == "switch" && u.has("orphan"): // no file stays
			return tracked
		case len(u.rest) == 0 && u.has("force"):
			return changed
		case len(u.rest) == 0:
			return nil // the commit stays, with a new branch or none
		}
		for _, option := range []string{"b", "B", "create", "force-create", "orphan"} {
			if u.has(option) {
				return tracked // what it begins at
			}
		}
		if verb == "checkout" && !u.has("detach") {
			if name := u.rest[0].Value(); len(u.rest) > 1 || name != nil && *name != "-" && !u.isCommit(git, *name) {
				return nil // paths, which have an effect of their own
			}
		}
		return tracked
	}
	return nil
}

// wide reports a path of a repository that can cover more than a file or a directory
// of its own.
func wide(f flow.Word) bool {
	name := f.Value()
	return name == nil || strings.HasPrefix(*name, ":") || strings.ContainsAny(*name, "*?[") || strings.Trim(path.Clean(*name), "./") == ""
}

// isCommit reports a name that git reads as a commit: one that only commits have, or
// one of a branch, a tag or what another repository has.
func (u *use) isCommit(git, name string) bool {
	if strings.Trim(name, "0123456789abcdef") == "" && len(name) >= 7 || strings.HasSuffix(name, "HEAD") || name == "@" ||
		strings.ContainsAny(name, "~^") || strings.Contains(name, "@{") {
		return true
	}
	for _, kind := range []string{"heads/", "tags/", "remotes/", "remotes/origin/", ""} {
		if u.hasRef(git, "refs/"+kind+name) {
			return true
		}
	}
	return false
}
