package company.branch_names_test

import data.company.branch_names

test_warns if {
	every line in ["git switch -c test", "git checkout -b MyBranch", "git switch --create fix_it", "git switch -C wip", "git checkout -B wip", "cd x && git checkout -b wip origin/main"] {
		count(branch_names.warn) == 1 with input as gate.event(line)
	}
}

test_says_nothing if {
	every line in [
		"git switch -c feat/cart-total",
		"git checkout -b fix/timeout",
		"git switch main",
		"git checkout main.go",
		`git switch -c "$NAME"`,
		"git branch",
	] {
		count(branch_names.warn) == 0 with input as gate.event(line)
	}
}
