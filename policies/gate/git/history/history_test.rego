package gate.git.history_test

import data.gate.git.history

test_asks if {
	every call in [
		"git filter-branch --tree-filter 'rm -f x' HEAD",
		"git filter-repo --path x --invert-paths",
		"git reflog expire --expire=now --all",
		"git gc --prune=now",
		"git update-ref -d refs/heads/main",
		"git branch -D feature",
		"git branch --delete --force feature",
		"git reflog delete HEAD@{1}",
		"git prune",
		"git -C . branch -D main",
		"git branch -f main HEAD~5",
		"git gc --aggressive --prune=all",
	] {
		count(history.ask) > 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		"git rebase main",
		"git commit --amend --no-edit",
		"git branch -d merged",
		"git merge feature",
		"git log --oneline",
		"git stash",
		"git stash pop",
		"git branch --list 'force*'",
		"git gc",
		"git reflog",
		"git rebase -i HEAD~3",
		"git cherry-pick abc",
		"git revert HEAD",
		"git tag -d v0.0.1-rc1",
		"git pull --rebase",
		"git commit -m 'filter-branch'",
	] {
		count(history.ask) == 0 with input as gate.event(call)
	}
}

test_reason_names_what_is_dropped if {
	every line, what in {
		"git branch -D feature": "(git branch delete of feature)",
		"git gc --prune=now": "(git gc prune)",
	} {
		some question in history.ask with input as gate.event(line)
		contains(question.reason, what)
	}
}
