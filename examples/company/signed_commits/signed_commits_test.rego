package company.signed_commits_test

import data.company.signed_commits

test_denies if {
	every line in [
		"git commit --no-gpg-sign -m x",
		"git config commit.gpgsign false",
		"git config --global tag.gpgSign false",
		`git config commit.gpgsign "$V"`,
		"git -c commit.gpgsign=false commit -m x",
		"git -c COMMIT.gpgSign=0 commit -m x",
	] {
		count(signed_commits.deny) > 0 with input as gate.event(line)
	}
}

test_passes if {
	every line in [
		"git commit -m x",
		"git commit -S -m x",
		"git config commit.gpgsign true",
		"git -c commit.gpgsign=true commit -m x",
		"git -c user.name=x commit -m x",
		"git config --get commit.gpgsign",
		"git tag -s v1",
		"git commit --no-verify -m x",
		"git config core.pager less",
	] {
		count(signed_commits.deny) == 0 with input as gate.event(line)
	}
}
