package program

import (
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/world"
)

// gitPutsAway judges lines that put a whole worktree into another state, and with it
// the settings of the project by which alone gate stands before the agent.
func (u *use) gitPutsAway() {
	takes := u.takenAway()
	if takes == nil {
		return
	}
	git := u.gitDir()
	if git == "" {
		return
	}
	for _, file := range u.World.GuardsOfProject() {
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
func (u *use) takenAway() func(world.Tracking) bool {
	changed := func(t world.Tracking) bool { return t == world.Changed }
	tracked := func(t world.Tracking) bool { return t != world.Untracked }
	switch verb := strings.Join(u.verbs, " "); verb {
	case "stash", "stash push", "stash save":
		switch {
		case len(u.strayed) > 0 || verb == "stash push" && len(u.rest) > 0 || u.has("staged") || u.has("patch"):
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
		for _, option := range []string{"b", "B", "create", "force-create", "patch", "pathspec-from-file"} {
			if u.has(option) {
				return nil
			}
		}
		if len(u.rest) == 0 && !u.has("detach") && !u.has("force") {
			return nil
		}
		if git := u.gitDir(); verb == "checkout" && len(u.rest) > 0 && !u.has("detach") {
			if name := u.rest[0].Value(); len(u.rest) > 1 || name != nil && *name != "-" && !u.isBranch(git, *name) {
				return nil // paths, which have an effect of their own
			}
		}
		return tracked
	}
	return nil
}
