package company.no_verify_test

import data.company.no_verify

test_denies if {
	every line in [
		"git commit --no-verify -m x",
		"git commit -nm x",
		"git commit -n -m x",
		"git push --no-verify",
		"git merge --no-verify x",
		"HUSKY=0 git commit -m x",
		"git -c core.hooksPath=/dev/null commit -m x",
		"git config core.hooksPath /dev/null",
		"sh -c 'git commit --no-verify -m x'",
	] {
		count(no_verify.deny) > 0 with input as gate.event(line)
	}
}

test_denies_a_key_that_is_not_known if {
	event := {"facts": {"shell": null, "effects": [{"kind": "git.config", "command": null, "key": null}]}}
	count(no_verify.deny) == 1 with input as event
}

test_passes if {
	every line in [
		"git commit -m x",
		"git commit -m 'drop --no-verify'",
		"git push -n",
		"git push --dry-run",
		"git commit --no-gpg-sign -m x",
		"git config user.name x",
		"git log -n 3",
	] {
		count(no_verify.deny) == 0 with input as gate.event(line)
	}
}
