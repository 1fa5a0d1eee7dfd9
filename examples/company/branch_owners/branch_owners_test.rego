package company.branch_owners_test

import data.company.branch_owners

test_denies_with_the_owner if {
	every line, owner in {
		"git push origin main": "the platform team",
		"git push origin +x:refs/heads/release/1.2": "the release managers",
		"cd web && sudo git push origin billing": "the payments team",
		"git push origin --delete gh-pages": "the documentation team",
		"git push origin 'refs/heads/m*:refs/heads/m*'": "the platform team",
	} {
		[verdict] := [v | some v in branch_owners.deny] with input as gate.event(line)
		contains(verdict.reason, sprintf("belongs to %s ", [owner]))
		count(branch_owners.ask) == 0 with input as gate.event(line)
	}
}

test_denies_what_pushes_all if {
	every line in ["git push --all origin", "git push --mirror origin"] {
		count(branch_owners.deny) == count(data.company.branch_owners.owners) with input as gate.event(line)
	}
}

test_denies_tools if {
	call := {"tool": "mcp__github__push_files", "input": {"owner": "a", "repo": "r", "branch": "billing", "files": []}}
	count(branch_owners.deny) == 1 with input as gate.event(call)
}

test_asks_what_is_not_known if {
	every line in [`git push origin "$BRANCH"`, "gh pr merge 3 --squash"] {
		count(branch_owners.ask) == 1 with input as gate.event(line)
		count(branch_owners.deny) == 0 with input as gate.event(line)
	}
}

test_passes if {
	every line in [
		"git push origin feature",
		"git push origin billing-retries",
		"git push origin v1.0:refs/tags/v1.0",
		"git fetch origin main",
		"git commit -m 'git push origin main'",
	] {
		count(branch_owners.deny) == 0 with input as gate.event(line)
		count(branch_owners.ask) == 0 with input as gate.event(line)
	}
}

test_owners_are_data if {
	count(branch_owners.deny) == 0 with input as gate.event("git push origin main")
		with data.company.branch_owners.owners as {"next": "nobody"}
	count(branch_owners.deny) == 1 with input as gate.event("git push origin next")
		with data.company.branch_owners.owners as {"next": "nobody"}
}

test_points_at_the_push if {
	some verdict in branch_owners.deny with input as gate.event("true && git push origin main")
	verdict.span == [8, 28]
	some question in branch_owners.ask with input as gate.event(`true && git push origin "$B"`)
	question.span == [8, 28]
}
