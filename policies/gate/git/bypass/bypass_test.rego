package gate.git.bypass_test

import data.gate.git.bypass

test_asks if {
	every call in [
		"git commit --no-verify -m x",
		"git commit -nm x",
		"git push --no-verify",
		"git -c core.hooksPath=/dev/null commit -m x",
		"git config core.hooksPath /dev/null",
		"HUSKY=0 git commit -m x",
		"git merge --no-verify feature",
		"git commit -a -n -m x",
		"git commit --no-gpg-sign -m x",
		"git am --no-verify x.patch",
		"SKIP=flake8 git commit -m x",
		"git commit --no-ver -m x",
		"git -c 'core.hooksPath=' commit -m x",
		"git config --local core.hooksPath ''",
		"git rebase --no-verify main",
	] {
		count(bypass.ask) > 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		"git commit -m x",
		"git commit -am 'no-verify is bad'",
		"git push",
		"git merge feature",
		"git config user.name x",
		"git log -n 5",
		"git push -n origin main",
		"git commit --verbose",
		"git commit -m '--no-verify'",
		"echo git commit --no-verify",
		"git config --get core.hooksPath",
		"git -c core.pager=cat log -1",
		"git commit -S -m x",
		"git tag -a v1 -m x",
		"git commit --allow-empty -m trigger",
	] {
		count(bypass.ask) == 0 with input as gate.event(call)
	}
}
