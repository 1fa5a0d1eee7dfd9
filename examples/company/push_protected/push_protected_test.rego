package company.push_protected_test

import data.company.push_protected

on(branch, line) := gate.event({
	"bash": line,
	"files": {"/home/dev/project/.git/HEAD": sprintf("ref: refs/heads/%s\n", [branch])},
})

test_denies_every_refspec if {
	every line in [
		"git push origin main",
		"git push origin HEAD:main",
		"git push origin feature:main",
		"git push origin +x:refs/heads/main",
		"git push origin refs/heads/main",
		"git push origin HEAD:heads/main",
		"git push origin :main",
		"git push origin --delete main",
		"git push -d origin release/1.2",
		"git push origin 'refs/heads/*:refs/heads/*'",
		"git push origin 'refs/heads/m*:refs/heads/m*'",
		"git push origin feature main",
		"git push --mirror origin",
		"git push --all origin",
		"git push --force-with-lease origin main",
		"git -C . push origin main",
		"sudo -u ci git push origin main",
		"sh -c 'git push origin main'",
		"git commit -am x && git push origin HEAD:master",
		"B=main; git push origin $B",
		"git switch main && git push",
		"git checkout main; git merge feature; git push",
		"git subtree push --prefix web origin main",
		"for b in feature main; do git push origin $b; done",
	] {
		count(push_protected.deny) > 0 with input as on("feature", line)
	}
}

test_denies_the_branch_that_is_checked_out if {
	every line in ["git push", "git push origin", "git push -u origin HEAD", "git push origin @"] {
		count(push_protected.deny) > 0 with input as on("main", line)
		count(push_protected.deny) == 0 with input as on("feature", line)
		count(push_protected.ask) == 0 with input as on("feature", line)
	}
}

test_denies_what_git_is_set_up_to_push if {
	config := "[push]\n\tdefault = upstream\n[branch \"feature\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"
	call := {"bash": "git push", "files": {
		"/home/dev/project/.git/HEAD": "ref: refs/heads/feature\n",
		"/home/dev/project/.git/config": config,
	}}
	count(push_protected.deny) > 0 with input as gate.event(call)
}

test_denies_tools if {
	every call in [
		{"tool": "mcp__github__push_files", "input": {"owner": "a", "repo": "r", "branch": "main", "files": []}},
		{"tool": "mcp__github__create_or_update_file", "input": {"repo": "r", "branch": "main", "path": "x", "content": "y"}},
		{"tool": "mcp__github__delete_file", "input": {"repo": "r", "branch": "refs/heads/main", "path": "x"}},
		{"tool": "mcp__github__merge_pull_request", "input": {"repo": "r", "pull_number": 3, "base": "main"}},
		{"tool": "mcp__github__delete_branch", "input": {"repo": "r", "branch": "release/2"}},
	] {
		count(push_protected.deny) > 0 with input as gate.event(call)
	}
}

test_asks_what_is_not_known if {
	every call in [
		`git push origin "$BRANCH"`,
		"git push origin $(git branch --show-current)",
		"git push origin :",
		"git push",
		"gh pr merge 3 --squash",
		"GIT_DIR=/srv/other.git git push",
		{"tool": "mcp__github__push_files", "input": {"owner": "a", "repo": "r", "files": []}},
		{"tool": "mcp__github__create_or_update_file", "input": {"repo": "r", "path": "x", "content": "y"}},
		{"tool": "mcp__github__merge_pull_request", "input": {"repo": "r", "pull_number": 3}},
	] {
		count(push_protected.ask) > 0 with input as gate.event(call)
		count(push_protected.deny) == 0 with input as gate.event(call)
	}
}

test_passes if {
	every line in [
		"git push origin feature",
		"git checkout -b fix && git commit -am x && git push -u origin HEAD",
		"git push -u origin HEAD:fix/main-menu",
		"git push origin maintenance",
		"git push --dry-run origin main",
		"git push --tags",
		"git push origin v1.0",
		"git fetch origin main",
		"git commit -m 'git push origin main'",
		"echo git push origin main",
		"git stash push",
	] {
		count(push_protected.deny) == 0 with input as on("feature", line)
		count(push_protected.ask) == 0 with input as on("feature", line)
	}
}

test_passes_tools if {
	every call in [
		{"tool": "mcp__github__push_files", "input": {"repo": "r", "branch": "feature", "files": []}},
		{"tool": "mcp__github__create_branch", "input": {"repo": "r", "branch": "x", "from_branch": "main"}},
		{"tool": "mcp__github__create_pull_request", "input": {"repo": "r", "head": "x", "base": "main"}},
		{"tool": "mcp__github__list_commits", "input": {"repo": "r", "sha": "main"}},
	] {
		count(push_protected.deny) == 0 with input as gate.event(call)
		count(push_protected.ask) == 0 with input as gate.event(call)
	}
}

test_branches_are_a_parameter if {
	count(push_protected.deny) == 0 with input as on("feature", "git push origin main")
		with data.gate.params.company.push_protected.branches as ["next"]
	count(push_protected.deny) > 0 with input as on("feature", "git push origin next")
		with data.gate.params.company.push_protected.branches as ["next"]
}

test_points_at_the_push if {
	some verdict in push_protected.deny with input as on("feature", "true && git push origin main")
	verdict.span == [8, 28]
	startswith(verdict.reason, "pushes to main; ")
}
