package company.commit_ticket_test

import data.company.commit_ticket

test_tells if {
	every line in ["git commit -m 'fix: x'", "git add . && git commit -m a -m b", "git commit -m utf-8"] {
		count(commit_ticket.context) == 1 with input as gate.event(line)
	}
}

test_says_nothing if {
	every line in [
		"git commit -m 'fix: x' -m 'Refs: SHOP-12'",
		"git commit -m 'SHOP-12: x'",
		"git commit --amend --no-edit",
		`git commit -m "$MSG"`,
		"git tag -m x v1",
		"git commit",
		"git status",
		"ls",
	] {
		count(commit_ticket.context) == 0 with input as gate.event(line)
	}
}

test_ticket_is_a_parameter if {
	count(commit_ticket.context) == 0 with input as gate.event("git commit -m 'fix #12'")
		with data.gate.params.company.commit_ticket.ticket as `#\d+`
}
