package gate.quiet.git_test

import data.gate.quiet.git

repository := {
	"/home/dev/project/.git/HEAD": "ref: refs/heads/main\n",
	"/home/dev/project/.git/objects/x": "",
	"/home/dev/project/.git/refs/heads/main": "x",
	"/home/dev/project/.git/config": "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@github.com:acme/app.git\n",
	"/home/dev/.gitconfig": "[user]\n\tname = dev\n[core]\n\tpager = less -R\n[credential]\n\thelper = store\n",
}

allowed(line) if allowed_in(line, {})

allowed_in(line, more) if {
	event := gate.event({"bash": line, "files": object.union(repository, more), "env": {"HOME": "/home/dev"}})
	count(git.allow) == 1 with input as event with data.gate.params.gate.quiet.git.on as true
}

test_off_until_it_is_switched_on if {
	count(git.allow) == 0 with input as gate.event({"bash": "git status", "files": repository, "env": {"HOME": "/home/dev"}})
	allowed("git status")
}

test_allows_everyday_git if {
	every line in [
		"git status", "git status -sb", "git status --porcelain | head", "git diff", "git diff --stat HEAD~1", "git diff --cached -- main.go", "git diff main...HEAD --name-only",
		"git log --oneline -5", "git log -n 3 --stat --format='%h %s'", "git show HEAD --stat", "git show -s HEAD", "git show -s", "git show -s HEAD~2", "git show --stat HEAD^", "git show -q @", "git show -s abc1234^0", "git show --stat HEAD -- main.go", "git show --stat refs/heads/fix", "git show HEAD:main.go", "git add main.go src/x.go",
		"git add -u", "git add Makefile .gitignore", "git commit -m x", "git commit -qam 'x y'", "git add main.go && git commit -m x && git status", "git branch", "git branch -vv",
		"git branch --show-current", "git branch fix", "git branch fix main", "git switch -c fix", "git checkout -b fix", "git --no-pager log -3", "git -C src status",
		"cd src && git diff | head -50", "git commit -m \"$(cat <<'EOF'\nFix x\n\nMore.\nEOF\n)\"", "git diff > /dev/null && echo same", "/usr/bin/git status", "git log --author=dev | wc -l",
	] {
		allowed(line)
	}
}

test_does_not_allow_other_git if {
	every line in [
		"git push", "git fetch", "git pull", "git stash", "git reset --hard", "git checkout main", "git checkout -- main.go", "git checkout -b fix origin/main", "git switch main", "git merge x",
		"git rebase main", "git clean -fd", "git rm main.go", "git commit", "git commit --amend -m x", "git commit --no-verify -m x", "git commit -m x main.go", "git commit -F x", "git commit -m x -S",
		"git commit --trailer x -m y", "git branch -d x", "git branch -D x", "git branch -m x", "git branch -f main x", "git branch --edit-description", "git branch -u x", "git add .", "git add -A",
		"git add src", "git add '*'", "git add", "git add -p main.go", "git add -f main.go", "git add :/", "git add ../x.go", "git add /etc/x.conf", "git add id_rsa", "git diff --ext-diff",
		"git diff --output=x", "git diff --no-index a b", "git diff /dev/null /etc/passwd", "git diff --textconv", "git status -v", "git status -vv", "git log -p", "git log -p -- main.go", "git log -S KEY", "git log -G KEY", "git log --stat -p", "git show", "git show HEAD",
		"git show HEAD~1", "git show -s HEAD~1:notes.txt", "git show -s main", "git show -s abc1234", "git show --stat v1.0", "git show -s abc1234 -- abc1234", "git show HEAD:secret.txt", "git diff --cached", "git diff HEAD~1", "git diff main fix", "git diff main.go", "git diff --stat -p HEAD~1", "git diff --stat -U3 HEAD~1", "git diff HEAD -- notes.txt",
		"git diff --check HEAD~1", "git diff --stat --raw HEAD~1 --unified=1", "git branch --sort=signature", "git branch --sort=-signature:grade", "git log --format=%+GG", "git log --format=%-G?",
		"git log '--format=% GS'", "git log --pretty=mine", "git log --format='%(trailers)'", "git log --format=%N", "git add ':(glob)**'", "git add ':!x'", "git add '*.go'", "git add 'x?.go'", "git add 'x[a].go'",
		"git add -u .", "git add -u src", "git log --show-signature", "git log --format=%G?", "git log --pretty='%h %GS'",
		"git show --ext-diff", "git log --output=x", "git config x.y z", "git config -l", "git remote -v", "git -c core.fsmonitor=./x status", "git --exec-path=x status", "git --git-dir=x status",
		"git -C /etc status", "git -C ../other status", "git -p log", "git grep x", "git bisect run x", "git submodule update", "git worktree add x", "git hook run x", "git lfs ls-files",
		"git x", "./git status", "yadm status", "hub status", "sudo git status", "git status; make", "git status | sh", "git diff > x.patch", "git show HEAD:.env", "git log -p -- .env",
		"git show HEAD:*", "git show 'HEAD:conf/*'", "git show HEAD:../x", "GIT_DIR=x git status", "GIT_EXTERNAL_DIFF=x git diff", "GIT_PAGER=./x git log", "GIT_SSH_COMMAND=x git status", "GIT_TRACE=/tmp/x git status",
		"HOME=/tmp git status", "HOME=/tmp; git status", "git commit -m \"$(make)\"", "git commit -m \"$X\"", "git branch \"$X\"", "ls", "git config core.fsmonitor x; git status",
		"cp x .git/hooks/pre-commit; git commit -m x", "echo x > .git/config; git status", "git init; git status", "cd /tmp && git status",
	] {
		not allowed(line)
	}
}

starts := [
	"[core]\nfsmonitor = ./x\n", "[filter \"a\"]\nclean = x\n", "[filter \"a\"]\nprocess = x\n", "[diff \"a\"]\ntextconv = x\n", "[diff]\nexternal = x\n", "[core]\nhooksPath = .husky\n",
	"[core]\npager = ./x\n", "[pager]\nlog = ./x\n", "[commit]\ngpgSign = true\n", "[include]\npath = more\n", "[includeIf \"gitdir:/x\"]\npath = more\n", "[hook \"x\"]\ncommand = x\n",
	"[remote \"origin\"]\npromisor = true\n", "[include]\npath = ~x/more\n", "[core]\nworktree = ../x\n", "[trailer \"x\"]\ncommand = x\n",
]

test_does_not_allow_where_something_starts_a_program if {
	every text in starts {
		every file in ["/home/dev/project/.git/config", "/home/dev/.gitconfig", "/home/dev/.config/git/config", "/etc/gitconfig"] {
			every line in ["git status; git diff; git add main.go; git commit -m x; git log"] {
				not allowed_in(line, {
					file: concat("", [object.get(repository, file, ""), text]),
					"/home/dev/project/.git/more": "[core]\nfsmonitor = x\n", "/home/dev/more": "[core]\nfsmonitor = x\n",
					"/home/dev/.config/git/more": "[core]\nfsmonitor = x\n", "/etc/more": "[core]\nfsmonitor = x\n",
				})
			}
		}
	}
}

test_does_not_allow_where_a_hook_is if {
	every hook in ["pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "post-index-change", "reference-transaction"] {
		not allowed_in("git commit -m x", {sprintf("/home/dev/project/.git/hooks/%s", [hook]): "#!/bin/sh\nx"})
	}
	allowed_in("git commit -m x", {"/home/dev/project/.git/hooks/pre-push": "#!/bin/sh\nx"})
	allowed_in("git commit -m x", {"/home/dev/project/.git/hooks/pre-commit.sample": "#!/bin/sh\nx"})
}

test_allows_what_a_setting_does_not_bear_on if {
	lfs := {"/home/dev/.gitconfig": "[filter \"lfs\"]\n\tprocess = git-lfs filter-process\n"}
	allowed_in("git log --oneline", lfs)
	allowed_in("git branch", lfs)
	not allowed_in("git status", lfs)
}

# A setting of which nobody knows what it does is none that does nothing.
test_does_not_allow_a_setting_that_is_not_on_the_list if {
	every text in ["[frobnicate]\nx = y\n", "[core]\nfrobnicate = y\n", "[extensions]\nrefStorage = reftable\n", "[trace2]\neventTarget = /tmp/x\n", "[branch]\nsort = signature\n"] {
		not allowed_in("git status", {"/home/dev/.gitconfig": text})
	}
	every text in ["[format]\npretty = %h %+GG\n", "[format]\npretty = %-G?\n", "[pretty]\nmine = %GS\n"] {
		not allowed_in("git log", {"/home/dev/.gitconfig": text})
	}
}

test_does_not_allow_a_directory_with_an_ending if {
	allowed("git add conf.go")
	not allowed_in("git add conf.go", {"/home/dev/project/conf.go/x": ""})
	not allowed_in("git add main.go conf.go", {"/home/dev/project/conf.go/x": ""})
}

test_does_not_allow_a_repository_that_is_not_whole if {
	not allowed_in("cd sub && git status", {"/home/dev/project/sub/.git/x": ""})
	not allowed_in("cd sub && git status", {"/home/dev/project/sub/HEAD": "x", "/home/dev/project/sub/objects/x": "", "/home/dev/project/sub/refs/x": ""})
	count(git.allow) == 0 with input as gate.event("git status") with data.gate.params.gate.quiet.git.on as true
}
