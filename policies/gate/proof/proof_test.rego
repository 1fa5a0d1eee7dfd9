package gate.proof_test

import data.gate.proof
import data.gate.quiet.git
import data.gate.quiet.look
import data.gate.quiet.remote

# The lists are those of the pages: a change of one is a change of what passes.
test_lists_are_as_they_were_agreed if {
	json.marshal(proof.variables) == json.marshal({"LANG", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "TZ", "NO_COLOR", "COLUMNS", "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT"})
	json.marshal(proof.tests) == json.marshal({
		"-H", "-P", "-a", "-and", "-daystart", "-depth", "-empty", "-false", "-iname", "-ipath", "-iregex", "-links", "-maxdepth", "-mindepth", "-mmin",
		"-mtime", "-name", "-newer", "-not", "-o", "-or", "-path", "-perm", "-print", "-print0", "-prune", "-quit", "-regex", "-regextype", "-size", "-true",
		"-type", "-user", "-xdev",
	})
	json.marshal(proof.programs) == json.marshal({
		"[": set(),
		"basename": {"multiple", "suffix", "zero"},
		"cat": {"E", "T", "b", "e", "n", "number", "number-nonblank", "s", "show-all", "show-ends", "show-nonprinting", "show-tabs", "squeeze-blank", "t"},
		"cd": set(),
		"cksum": set(),
		"cmp": {"b", "bytes", "ignore-initial", "silent", "verbose"},
		"column": {"output-separator", "separator", "table", "x"},
		"comm": {"1", "2", "3", "output-delimiter", "total"},
		"cut": {"bytes", "characters", "complement", "delimiter", "fields", "output-delimiter", "s"},
		"date": {"I", "R", "date", "iso-8601", "rfc-3339", "utc"},
		"df": {"T", "h", "i", "k"},
		"diff": {"B", "U", "b", "brief", "color", "context", "i", "minimal", "s", "side-by-side", "u", "unified", "w", "y"},
		"dirname": {"zero"},
		"du": {"a", "c", "h", "k", "m", "max-depth", "s"},
		"echo": {"E", "e", "n"},
		"false": set(),
		"file": {"L", "brief", "mime"},
		"find": set(),
		"groups": set(),
		"grep": {
			"E", "F", "G", "P", "a", "after-context", "before-context", "color", "context", "count", "exclude", "exclude-dir", "files-with-matches",
			"files-without-match", "h", "H", "i", "include", "invert-match", "max-count", "n", "o", "quiet", "recursive", "regexp", "s", "w", "x",
		},
		"head": {"NUMBER", "bytes", "lines", "quiet", "verbose"},
		"hostname": set(),
		"id": {"G", "g", "n", "u"},
		"jq": {"c", "compact-output", "e", "exit-status", "r", "raw-output", "sort-keys"},
		"ls": {"1", "A", "F", "G", "R", "S", "a", "all", "almost-all", "color", "d", "directory", "h", "human-readable", "i", "l", "r", "recursive", "reverse", "size", "sort", "t", "time-style"},
		"md5sum": set(),
		"nl": {"body-numbering"},
		"nproc": {"all"},
		"printf": set(),
		"pwd": {"L", "P"},
		"readlink": {"canonicalize", "e", "m"},
		"realpath": {"canonicalize", "e", "m", "relative-base", "relative-to", "s"},
		"rev": set(),
		"rg": {
			"F", "N", "S", "U", "after-context", "before-context", "color", "context", "count", "count-matches", "fixed-strings", "glob", "heading", "i",
			"ignore-case", "line-number", "max-count", "n", "no-heading", "o", "only-matching", "quiet", "regexp", "s", "smart-case", "type", "v", "w",
			"word-regexp", "x",
		},
		"sed": {"E", "expression", "r", "regexp-extended", "silent"},
		"seq": {"equal-width", "separator", "s", "w"},
		"sha1sum": set(),
		"sha256sum": set(),
		"sha512sum": set(),
		"sort": {"M", "R", "V", "b", "c", "d", "f", "field-separator", "g", "h", "i", "key", "n", "r", "s", "u", "z"},
		"stat": {"L", "format", "printf", "t"},
		"tac": set(),
		"tail": {"NUMBER", "bytes", "lines", "quiet", "verbose"},
		"test": set(),
		"tr": {"complement", "delete", "squeeze-repeats", "truncate-set1"},
		"tree": {"I", "L", "P", "a", "d", "f", "h", "i", "s"},
		"true": set(),
		"type": {"a", "t", "p"},
		"uname": {"a", "m", "n", "o", "p", "r", "s", "v"},
		"uniq": {"count", "ignore-case", "repeated", "unique", "c", "d", "i", "u"},
		"uptime": set(),
		"wc": {"L", "bytes", "chars", "lines", "words"},
		"which": {"a"},
		"whoami": set(),
	})
	json.marshal(proof.own_verbs) == json.marshal({
		"status": {"b", "branch", "ignored", "long", "porcelain", "s", "short", "u", "untracked-files", "z"},
		"diff": {
			"U", "cached", "check", "color", "diff-filter", "exit-code", "i", "ignore-all-space", "merge-base", "minimal", "M", "name-only", "name-status",
			"no-color", "no-ext-diff", "no-textconv", "numstat", "p", "quiet", "raw", "shortstat", "staged", "stat", "summary", "unified", "w", "word-diff",
		},
		"log": {
			"NUMBER", "M", "abbrev-commit", "after", "all", "author", "before", "branches", "color", "committer", "date", "decorate", "diff-filter",
			"first-parent", "follow", "graph", "grep", "i", "max-count", "merges", "name-only", "name-status", "no-color", "no-decorate", "no-merges", "numstat",
			"oneline", "pretty", "reverse", "shortstat", "since", "skip", "stat", "summary", "tags", "until",
		},
		"show": {"M", "abbrev-commit", "color", "date", "name-only", "name-status", "no-color", "no-patch", "numstat", "oneline", "pretty", "q", "quiet", "s", "shortstat", "stat", "summary"},
		"add": {"update", "v", "verbose"},
		"commit": {"all", "allow-empty", "message", "quiet", "signoff"},
		"branch": {
			"all", "color", "column", "contains", "list", "merged", "no-color", "no-contains", "no-merged", "points-at", "q", "remotes", "show-current", "sort",
			"verbose",
		},
		"switch": {"create", "q"},
		"checkout": {"b", "quiet"},
	})
	json.marshal(proof.peer_verbs) == json.marshal({
		"fetch": {"no-tags", "p", "prune", "q", "quiet", "t", "tags", "v", "verbose"},
		"pull": {"ff-only", "no-tags", "q", "quiet", "v", "verbose"},
		"push": {"progress", "quiet", "set-upstream", "verbose", "u"},
	})
}

repository := {
	"/home/dev/project/.git/HEAD": "ref: refs/heads/fix\n", "/home/dev/project/.git/objects/x": "", "/home/dev/project/.git/refs/heads/fix": "x",
	"/home/dev/project/.git/config": "[remote \"origin\"]\nurl = git@github.com:acme/app.git\n",
}

at(line) := gate.event({"bash": line, "files": repository, "env": {"HOME": "/home/dev"}})

looks(event) if count(look.allow) == 1 with input as event with data.gate.params.gate.quiet.look.on as true

works(event) if count(git.allow) == 1 with input as event with data.gate.params.gate.quiet.git.on as true

exchanges(event) if {
	count(remote.allow) == 1 with input as event
		with data.gate.params.gate.quiet.remote.on as true
		with data.gate.params.gate.quiet.remote.remotes as ["github.com/acme/*"]
}

replaced(event, path, value) := json.patch(event, [{"op": "replace", "path": path, "value": value}])

added(event, path, value) := json.patch(event, [{"op": "add", "path": path, "value": value}])

redirect(op, target) := {"op": op, "fd": -1, "target": target, "span": null}

# One fact of a call that is allowed is another one, and the rest is as it was.
different := {
	"/facts/opaque": [true], "/facts/unknown": [[{"kind": "word"}]], "/facts/hosts": [[{"host": "x"}]], "/facts/code": [[{"language": "awk"}]],
	"/flow": [[{"origin": "written"}]], "/facts/shell/dialect": ["powershell", null], "/facts/shell/commands": [[]],
	"/facts/shell/commands/0/known": [false], "/facts/shell/commands/0/in_project": [false, null], "/facts/shell/commands/0/via": [["sudo"]],
	"/facts/shell/commands/0/path": ["./x", "/tmp/cat", "/usr/bin/other"], "/facts/shell/commands/0/words/0/value": ["x", null], "/facts/shell/commands/0/words/1/value": [null],
	"/facts/shell/commands/0/env": [{"PATH": "x"}],
	"/facts/shell/commands/0/redirects": [
		[redirect(">", "x")], [redirect(">&", "3")], [redirect("<>", "1")], [redirect("<>", "/dev/null")], [redirect(">&", null)], [redirect("<&", "1")], [redirect("<&", "2")],
		[redirect("<<<", null)], [redirect("<<", null)], [redirect("<<-", null)], [object.union(redirect(">&", "2"), {"fd": 0})],
	],
}

test_needs_each_fact if {
	look_event := at("cat main.go 2> /dev/null")
	git_event := at("git status -s 2> /dev/null")
	remote_event := at("git push origin fix 2> /dev/null")
	looks(look_event)
	works(git_event)
	exchanges(remote_event)
	every path, values in different {
		every value in values {
			not looks(replaced(look_event, path, value))
			not works(replaced(git_event, path, value))
			not exchanges(replaced(remote_event, path, value))
		}
	}
}

test_needs_paths_that_may_be_seen if {
	event := at("cat main.go")
	every path, values in {
		"/facts/paths/0/access": ["write", "execute", "delete"], "/facts/paths/0/in_project": [false, null], "/facts/paths/0/resolved": ["/home/dev/other", null],
		"/facts/effects/0/kind": ["fs.write", "system"], "/facts/effects/0/could_be": [["root"]], "/facts/effects/0/area": ["user", "git", "temp"],
	} {
		every value in values {
			not looks(replaced(event, path, value))
		}
	}
	not looks(added(event, "/facts/effects/-", {"kind": "system"}))
	inside := "/home/dev/project/.git/config"
	not looks(replaced(replaced(event, "/facts/paths/0/path", inside), "/facts/paths/0/resolved", inside))
	every name, holds in {"/home/dev/project/*": false, "/home/dev/project/*.go": true} {
		pattern := replaced(replaced(replaced(event, "/facts/paths/0/path", name), "/facts/paths/0/resolved", name), "/facts/paths/0/glob", true)
		{true | looks(pattern)} == {true | holds}
		looks(replaced(pattern, "/facts/paths/0/access", "list"))
	}
}

test_needs_public_files_of_the_system if {
	every line in ["cat /usr/include/x.h", "cat /usr/lib/x", "cat /usr/share/x", "cat /etc/os-release", "cat /proc/cpuinfo", "cat /proc/meminfo", "ls /usr/share/x", "wc /usr/share/x"] {
		looks(at(line))
	}
	event := at("cat /usr/share/x")
	every path, values in {
		"/facts/paths/0/access": ["write"], "/facts/paths/0/glob": [true], "/facts/paths/0/path": ["/etc/shadow"], "/facts/paths/0/resolved": ["/etc/shadow"],
		"/facts/effects/0/kind": ["fs.write"], "/facts/effects/0/path": ["/etc/shadow"],
	} {
		every value in values {
			not looks(replaced(event, path, value))
		}
	}
}

test_redirections_that_write_nowhere if {
	every r in [
		redirect(">", "/dev/null"), redirect(">>", "/dev/null"), redirect("&>", "/dev/null"), redirect("&>>", "/dev/null"), redirect(">&", "1"), redirect(">&", "2"),
		redirect("<", "x"), redirect("<<", "x"), redirect("<<-", "x"), redirect("<<<", "x"),
	] {
		looks(replaced(at("ls"), "/facts/shell/commands/0/redirects", [r]))
	}
}

# A text that the shell puts together may hold a variable of the environment.
test_texts_for_a_program_are_literal if {
	every line in ["cat <<< abc", "cat <<E\nabc\nE\n", "cat <<'E'\n$MYCO\nE\n", "x=a; cat <<< \"$x\"", "echo a | (cat)"] {
		looks(at(line))
	}
	every line in [
		"cat <<< \"$MYCO\"", "cat <<E\n$MYCO\nE\n", "cat <<-E\n\ta ${MYCO}\nE\n", "cat 3<<< $MYCO <<< a", "{ cat; } <<< $MYCO", "{ cat; } <<E\n$MYCO\nE\n",
		"{ cat <&2; } 2<<< $MYCO", "{ cat 0>&2; } 2<<< $MYCO",
	] {
		not looks(at(line))
	}
}

test_tests_look_at_the_project if {
	every line in ["test -f main.go", "[ -d src ]", "find . -newer main.go", "find . -path '/x/*' -newer src/x.go", "[ \"a\" = \"b\" ]"] {
		looks(at(line))
	}
	every line in ["test -r /etc/shadow", "[ -f ~/.aws/credentials ]", "[ -f \"$HOME/.ssh/id_rsa\" ]", "test -e ../x", "test -e src/../../x", "find . -newer ~/.ssh/id_rsa", "find . -newer ../x"] {
		not looks(at(line))
	}
}

# The other words of a program have it do more, whatever facts make of it.
test_other_words if {
	every line, operands in {
		"hostname": ["evil"], "uptime": ["x"], "nproc": ["x"], "date": ["0101"], "uniq a": ["a", "b"], "sed -n 1p a": ["w x"], "jq .a b": [".a | env"], "echo a": ["*"], "printf a": ["?"],
	} {
		looks(at(line))
		not looks(replaced(at(line), "/facts/shell/commands/0/operands", operands))
	}
	not looks(replaced(at("sed -n 1p a"), "/facts/shell/commands/0/options", {"silent": [true], "expression": ["w x"]}))
	not looks(replaced(at("sed -n -e 1p a"), "/facts/shell/commands/0/options", {"silent": [true], "expression": ["1p", "w x"]}))
	not looks(replaced(at("sed -n 1p a"), "/facts/shell/commands/0/options", {}))
	not looks(replaced(at("sed -n -e 1p a"), "/facts/shell/commands/0/options", {"expression": ["1p"]}))
	not looks(replaced(at("ls"), "/facts/shell/commands/0/options", {"5": [true]}))
	not looks(added(at("find ."), "/facts/shell/commands/0/words/-", {"value": "-delete", "span": null}))
	not looks(replaced(at("find ."), "/facts/paths/0/access", "read"))
	looks(at("find . | cat main.go"))
	not looks(added(at("grep -r --include=*.go x ."), "/facts/shell/commands/0/words/-", {"value": "-R", "span": null}))
	every option in ["l", "L", "c", "q"] {
		looks(at(sprintf("grep -r%s x src", [option])))
	}
	every name in ["cs", "css", "go", "js", "lua", "py", "rust", "swift", "ts"] {
		looks(at(sprintf("rg -t %s x src", [name])))
	}
}

test_repositories if {
	every value in [["core.fsmonitor"], null] {
		not works(replaced(at("git status"), "/facts/shell/commands/0/repository/starts", value))
		not exchanges(replaced(at("git fetch origin"), "/facts/shell/commands/0/repository/starts", value))
	}
	every line in ["git status", "git diff", "git add x.go"] {
		not works(replaced(at(line), "/facts/shell/commands/0/repository/secrets", ["/x"]))
		not works(replaced(at(line), "/facts/shell/commands/0/program", "yadm"))
	}
	not exchanges(replaced(at("git fetch origin"), "/facts/shell/commands/0/repository/secrets", ["/x"]))
	not exchanges(replaced(at("git fetch origin"), "/facts/shell/commands/0/repository/remotes", []))
	not exchanges(replaced(at("git fetch origin"), "/facts/shell/commands/0/program", "yadm"))
	every line in ["git add x.go", "git log", "git status", "git diff", "git show"] {
		not works(replaced(at(line), "/facts/shell/commands/0/operands", ["../x.go"]))
	}
	not works(replaced(at("git branch a"), "/facts/shell/commands/0/operands", ["a", "b", "c"]))
	works(at("git branch a b"))
	every line in ["git switch -c a", "git checkout -b a"] {
		works(at(line))
		not works(replaced(at(line), "/facts/shell/commands/0/operands", ["main"]))
		not works(replaced(at(line), "/facts/shell/commands/0/options", {}))
	}
	works(at("git -P --no-optional-locks log --first-parent a b c"))
	not works(added(at("git status"), "/facts/effects/-", {"kind": "fs.write"}))
	some reason in git.allow with input as at("git status | head") with data.gate.params.gate.quiet.git.on as true
	contains(reason.reason, "(git status, head)")
}

test_pushes_and_pulls if {
	push := at("git push origin fix")
	exchanges(push)
	every path, values in {
		"/facts/effects/0/kind": ["net.send"], "/facts/effects/0/branches_from": ["unknown"], "/facts/effects/0/branches": [[]], "/facts/effects/0/force": [true],
		"/facts/effects/0/lease": [true], "/facts/effects/0/all": [true], "/facts/effects/0/mirror": [true], "/facts/effects/0/tags": [true], "/facts/effects/0/delete": [true],
	} {
		every value in values {
			not exchanges(replaced(push, path, value))
		}
	}
	every from in ["refspec", "head", "config"] {
		exchanges(replaced(push, "/facts/effects/0/branches_from", from))
	}
	pull := at("git pull --ff-only origin fix && ls main.go")
	exchanges(pull)
	exchanges(at("cat main.go && git push origin fix"))
	every path, values in {
		"/facts/effects/0/kind": ["fs.delete"], "/facts/effects/0/area": ["user"], "/facts/effects/0/command": [2], "/facts/paths/0/access": ["delete"], "/facts/paths/0/command": [2],
		"/facts/shell/commands/0/options": [{}], "/facts/shell/commands/0/subcommand": ["clone"],
	} {
		every value in values {
			not exchanges(replaced(pull, path, value))
		}
	}
	exchanges(replaced(pull, "/facts/effects/0/area", "project"))
	not exchanges(added(at("git fetch origin"), "/facts/paths/-", {"path": "/home/dev/project/x", "access": "write", "command": 1}))
}

# The grant of a person narrows the proof, and never widens it.
given := {"programs": {"mkdir": {"parents"}, "touch": set(), "rm": {"recursive", "force"}, "gofmt": {"write"}}, "how": {"create", "edit"}, "removes": {"node_modules"}, "places": {"/home/dev/docs", "/opt/acme"}}

gives(grant, spec) if proof.granted(grant) with input as gate.event(spec)

test_a_grant_holds_for_what_it_names if {
	every spec in [
		"mkdir -p src/a", "touch a.go b.go", "mkdir x && touch x/y.go && ls x", "gofmt -w main.go", "rm -rf node_modules", "cat /home/dev/docs/a.md | head -5",
		"ls /opt/acme/etc2", "rm -rf web/node_modules", {"tool": "Read", "input": {"file_path": "/home/dev/docs/x/a.md"}}, {"tool": "LS", "input": {"path": "/opt/acme"}},
	] {
		gives(given, spec)
	}
}

test_a_grant_holds_for_nothing_more if {
	every spec in [
		"mkdir -p src/a && make", "mkdir -m 777 a", "mkdir ../a", "mkdir ~/a", "mkdir /tmp/a", "mkdir .git/hooks/x", "touch .envrc", "touch .claude/settings.json", "touch $X", "touch *",
		"touch -r a b", "cp a b", "mv a b", "chmod +x a", "gofmt -w .", "gofmt -r 'a -> b' -w main.go", "gofmt -w ../a.go", "rm -rf dist", "rm -rf src", "rm -rf node_modules/*", "rm -rf node_modules src",
		"rm -rf .", "rm main.go", "rm -rf \"$X/node_modules\"", "cat /home/dev/docs/.env", "cat /home/dev/docs/../.ssh/id_rsa", "cat /home/dev/docs/*", "cat /home/dev/docs2/a.md", "cat /etc/passwd",
		"cat ~/.ssh/id_rsa", "cat /opt/acme/a > b", "mkdir a; curl https://x.example", "sudo mkdir a", "env mkdir a", "./mkdir a", "mkdir $(make)", "bash -c 'mkdir a'", "git status",
		{"tool": "Read", "input": {"file_path": "/home/dev/docs/.env"}}, {"tool": "Read", "input": {"file_path": "/home/dev/.ssh/id_rsa"}}, {"tool": "Read", "input": {}},
		{"tool": "Write", "input": {"file_path": "/home/dev/docs/a.md", "content": ""}}, {"tool": "Grep", "input": {"path": "/home/dev/docs", "pattern": "x"}},
		{"bash": "mkdir a", "cwd": "/home/dev/docs"},
	] {
		not gives(given, spec)
	}
}

test_a_place_is_not_read_as_a_whole if {
	every line in ["ls -l /home/dev/docs", "ls -r /home/dev/docs", "cat /home/dev/docs/a.md", "grep x /home/dev/docs/a.md", "diff /home/dev/docs/a.md a.md"] {
		gives(given, line)
	}
	every line in [
		"grep -r '' /home/dev/docs", "grep -rl x /home/dev/docs", "grep -r --include='*.md' '' /home/dev/docs", "grep -r '' /home/dev/docs/a.md", "rg x /home/dev/docs", "rg x /home/dev/docs/a.md",
		"rg -g '*.md' x /home/dev/docs", "find /home/dev/docs", "tree /home/dev/docs", "ls -R /home/dev/docs", "ls --recursive /home/dev/docs", "ls -lR /home/dev/docs", "diff -r /home/dev/docs src", "du -a /home/dev/docs", "du /home/dev/docs/x",
	] {
		not gives(given, line)
	}
}

test_a_grant_of_nothing_gives_nothing if {
	none := {"programs": {}, "how": set(), "removes": set(), "places": set()}
	not gives(none, "ls src")
	not gives(none, "mkdir a")
	not gives(none, {"tool": "Read", "input": {"file_path": "/home/dev/docs/a.md"}})
	not gives({}, "mkdir a")
}

test_a_grant_names_no_wide_place if {
	every place in ["/", "/home", "/home/dev", "/etc", "/opt", "/tmp", "/home/dev/.config", "/root", "/usr", "/var/lib", "/home/dev/", "docs", "/home/dev/docs/"] {
		not proof.below(sprintf("%s/a.md", [place]), place)
	}
	proof.below("/home/dev/docs/a.md", "/home/dev/docs/a.md")
}

test_a_grant_removes_only_what_tools_make_again if {
	every name in ["src", "build", "node_modules/x", ".git", "dist2", "distx/a"] {
		not gives(object.union(given, {"removes": {name}}), sprintf("rm -rf %s", [name]))
	}
	gives(object.union(given, {"removes": {"dist"}}), "rm -rf dist")
	not gives(given, "ls src")
}

# Whatever the line: a session in which what git starts was changed is not trusted.
test_git_of_a_disturbed_session if {
	every session, holds in {"net.send": true, "git.config": false, "exec.hidden": false} {
		disturbed := {"effects": {session: {"session": 1}}}
		{true | works(object.union(at("git status"), {"session": disturbed}))} == {true | holds}
		{true | exchanges(object.union(at("git fetch origin"), {"session": disturbed}))} == {true | holds}
	}
}

test_undisturbed if {
	proof.undisturbed({})
	proof.undisturbed({"effects": {"net.send": {"session": 3}}, "denials_by_policy": {"gate.secrets.read": 2}})
	every kind in ["exec.hidden", "git.bypass", "git.config", "persistence"] {
		not proof.undisturbed({"effects": {kind: {"session": 1}}})
	}
	every id in ["gate.git.bypass", "gate.git.config", "gate.persistence.startup"] {
		not proof.undisturbed({"denials_by_policy": {id: 1}})
	}
}

# What only quiet.build needs: where more may be written, all is known all the same.
test_shaped_needs_each_fact if {
	event := at("x=1; make test")
	proof.shaped with input as event
	proof.shaped with input as added(event, "/flow", [{"origin": "written"}])
	every path, value in {
		"/facts/opaque": true, "/facts/unknown": [{"kind": "word"}], "/facts/hosts": [{"host": "x"}], "/facts/code": [{"language": "awk"}],
		"/facts/shell/dialect": "powershell", "/facts/shell/ground/forms": ["while"], "/facts/shell/ground/assigns": ["x", "PATH"],
	} {
		not proof.shaped with input as added(event, path, value)
	}
}

ground := {"forms": [], "assigns": [], "programs": [], "leaves": [], "secrets": [], "whole": []}

test_firm_ground if {
	proof.firm(ground)
	project := {"whole": ["/home/dev/project/docs"]}
	every good in [
		{"assigns": ["x", "name2", "LANG"]},
		object.union(project, {"secrets": ["/home/dev/project/docs/.env", "/home/dev/project/docs/a/secrets.json"]}),
	] {
		proof.firm(object.union(ground, good))
	}
	every bad in [
		{"forms": ["while"]}, {"assigns": ["x", "PATH"]}, {"programs": ["/home/dev/project/bin/ls"]}, {"leaves": ["/home/dev/project/link"]},
		{"secrets": ["/home/dev/project/docs/.env"]},
		object.union(project, {"secrets": ["/home/dev/project/.env"]}),
		object.union(project, {"secrets": ["/home/dev/project/docs2/.env"]}),
		object.union(project, {"secrets": ["/home/dev/project/docs/credentials.go"]}),
		object.union(project, {"secrets": ["/home/dev/project/docs/.env", "/home/dev/project/.env"]}),
	] {
		not proof.firm(object.union(ground, bad))
	}
}

# files that stand around the lines below: a directory that holds no secret, and one
# whose name ends like a file.
around := {"/home/dev/project/docs/a.md": "", "/home/dev/project/src/x.go": "", "/home/dev/project/dir.go/y.go": ""}

in_project(line) := gate.event({"bash": line, "files": object.union(repository, around), "env": {"HOME": "/home/dev"}})

test_looking_passes if {
	every line in [
		"cat --number --number-nonblank main.go", "ls 1>&2", "echo a -newer ../x", "uniq -c a", "ls -R", "ls docs", "grep -rl x docs; ls docs", "grep -rl x docs; ls *.md; cat main.go", "grep -rl x docs; grep y *.md; cat main.go", "cat main.go; ls docs", "ls docs && ls *.go",
		"grep x docs", "cat main.go | grep x", "grep -rl x docs | head -3 main.go", "grep -rn x main.go", "grep -rL x docs", "grep -rc x docs", "grep -rq x docs", "grep -rl x docs",
		"grep -rn --include='*.go' x .", "rg x main.go", "rg -e x main.go", "cat main.go | rg x", "cat main.go | rg -e x", "rg -t go x", "rg -g '*.go' x", "rg -t go -g '*.go' x", "printf '%s' a", "grep -rl x docs; cat main.go | head",
	] {
		looks(in_project(line))
	}
	every option in ["-d", "-e", "-f", "-h", "-L", "-r", "-s", "-w", "-x"] {
		looks(in_project(sprintf("test %s main.go", [option])))
		looks(in_project(sprintf("[ %s main.go ]", [option])))
	}
	looks(in_project("[ -n a -a -z b -o a = b ]"))
}

test_looking_stops if {
	every line in [
		"TZ=../Berlin date", "test ../x", "[ /etc/shadow ]", "test a = '$x'", "[ -n '`id`' ]", "printf %s '$(id)'", "printf %s '(e)'", "git branch --col",
		"grep -rn x docs", "grep -rh x dir.go", "cat dir.go", "head docs", "cat *.go", "sort *.go; ls docs", "rg x notes.txt", "rg x", "rg x docs", "rg -e x", "rg x 2> /dev/null", "cat main.go | rg x docs",
		"rg -t go -g '*.txt' x", "rg -t go -g '*.go' -g '*.txt' x", "rg -t java x", "rg -t go -g '!x' y", "rg x < notes.txt", "rg -t go -t java x", "rg -g '*.txt' x", "rg x main.go dir.go",
	] {
		not looks(in_project(line))
	}
}

# An option without a value narrows nothing.
test_options_without_a_value if {
	every line, option in {"grep -rn --include='*.go' x .": "include", "rg -t go x": "type", "rg -g '*.go' x": "glob"} {
		event := in_project(line)
		looks(event)
		not looks(replaced(event, sprintf("/facts/shell/commands/0/options/%s", [option]), []))
	}
}

# Facts that say less than the line: whatever they are, it is not allowed.
test_looking_stops_whatever_facts_say if {
	event := at("uniq -c a")
	every words in [["uniq", "a", "b"], ["uniq", "-c", "a", "b"]] {
		not looks(replaced(event, "/facts/shell/commands/0/words", [{"value": word, "span": null} | some word in words]))
	}
	looks(replaced(at("cat /usr/share/x"), "/facts/paths/0/access", "use"))
	pattern := in_project("cat main.go *.go")
	not looks(pattern)
	looks(replaced(pattern, "/facts/shell/ground/whole", []))
	not looks(replaced(replaced(pattern, "/facts/shell/ground/whole", ["/home/dev/project/elsewhere.go"]), "/facts/paths/1/access", "use"))
}

test_patterns_that_hide if {
	every access in ["read", "use"] {
		proof.hides({"glob": true, "access": access, "path": "/home/dev/project/*"})
		not proof.hides({"glob": true, "access": access, "path": "/home/dev/project/*.go"})
		not proof.hides({"glob": false, "access": access, "path": "/home/dev/project/x"})
	}
	not proof.hides({"glob": true, "access": "list", "path": "/home/dev/project/*"})
	not proof.public(null)
}

command(line) := in_project(line).facts.shell.commands[0]

test_programs_of_another_name if {
	every line in ["git status", "git fetch origin"] {
		other := object.union(command(line), {"program": "yadm"})
		not proof.git(other)
		not proof.exchange(other)
	}
	proof.git(command("git status"))
	proof.exchange(command("git fetch origin"))
}

test_what_searches if {
	every line in ["grep -r x", "rg x", "grep -rl x docs"] {
		proof.searches(command(line))
	}
	every line in ["grep x main.go", "ls --recursive", "ls", "cat main.go"] {
		not proof.searches(command(line))
	}
	piped := in_project("cat main.go | rg x").facts.shell.commands[1]
	not proof.searches(piped)
}

test_git_passes if {
	every line in [
		"git branch --sort=-committerdate", "git branch --sort=refname", "git diff -- data.bin", "git diff -- data.bin notes.txt", "git diff --cached -- main.go", "git diff --staged -- main.go",
		"git diff --merge-base -- main.go", "git add x.go; ls docs", "git log docs", "git diff --", "git add x.go && grep -rl x docs", "git diff --stat docs", "git show --stat HEAD -- data.bin", "git show HEAD:main.go HEAD:src/x.go", "git add -u",
		"git log --oneline", "git log --pretty", "git log --format='%h %an %ad %Cred%s'", "git show -s --pretty=reference HEAD",
	] {
		works(in_project(line))
	}
	every name in ["oneline", "short", "medium", "full", "fuller", "reference"] {
		works(in_project(sprintf("git log --pretty=%s", [name])))
	}
	every name in ["stat", "shortstat", "numstat", "name-only", "name-status", "no-patch", "quiet", "summary"] {
		works(in_project(sprintf("git show --%s HEAD", [name])))
	}
}

test_git_stops if {
	every line in [
		"git branch --sort=signature", "git diff --staged", "git diff --cached", "git diff --merge-base", "git diff --staged -- data.bin", "git diff --cached -- data.bin", "git diff --merge-base -- data.bin", "git diff data.bin",
		"git diff main -- data.bin", "git add -v", "git add dir.go", "git add docs", "git show -s abc1234 -- x -- y", "git show -s --date -- abc1234", "git show main.go", "git show HEAD:src/../../y.go",
		"git show HEAD:main.go main.go", "git add -u docs/x.go", "git diff -- a -- b", "git log --pretty=raw", "git log --pretty=email", "git log --pretty=mine", "git show --name-only abc1234",
	] {
		not works(in_project(line))
	}
	not works(replaced(in_project("git diff --stat HEAD"), "/facts/shell/commands/0/operands", ["../x.go"]))
	not works(added(in_project("git add x.go"), "/facts/shell/ground/whole/-", "/home/dev/project/x.go"))
	works(in_project("git add x.go"))
}

test_sums_show_no_contents if {
	proof.sums({"options": {"stat": [true]}})
	not proof.sums({"options": {}})
	every name in ["p", "patch", "U", "unified", "raw", "check", "word-diff", "W", "function-context"] {
		not proof.sums({"options": {"stat": [true], name: [true]}})
	}
}

# Each program of a grant, with each option that a grant may name.
test_deeds_with_their_options if {
	every line, grant in {
		"clang-format -i a.c": {"clang-format": {"in-place"}}, "gofmt -d a.go": {"gofmt": {"diff"}}, "gofmt -l a.go": {"gofmt": {"list"}}, "gofmt -s a.go": {"gofmt": {"simplify"}}, "gofmt -w a.go": {"gofmt": {"write"}},
		"mkdir -p a": {"mkdir": {"parents"}}, "mkdir -v a": {"mkdir": {"verbose"}}, "rm -f a": {"rm": {"force"}}, "rm -r a": {"rm": {"recursive"}}, "rm -v a": {"rm": {"verbose"}}, "rmdir a": {"rmdir": set()},
		"rmdir -v a": {"rmdir": {"verbose"}}, "shfmt -d a.sh": {"shfmt": {"diff"}}, "shfmt -l a.sh": {"shfmt": {"list"}}, "shfmt -w a.sh": {"shfmt": {"write"}}, "touch -a a": {"touch": {"a"}}, "touch -m a": {"touch": {"m"}},
	} {
		proof.deed({"programs": grant}, command(line))
	}
	every line, grant in {
		"mkdir -p a": {"mkdir": set()}, "mkdir -m 777 a": {"mkdir": {"mode", "m"}}, "touch -r b a": {"touch": {"reference", "r"}}, "mkdir --parents a": {"touch": {"parents"}, "rm": {"parents"}}, "cp a b": {"cp": set()},
		"rm -rf a": {"rm": {"force"}}, "ls": {"ls": set()},
	} {
		not proof.deed({"programs": grant}, command(line))
	}
	not proof.deed(given, object.union(command("mkdir a"), {"subcommand": "x"}))
}

test_a_grant_that_only_reads if {
	lists := object.union(given, {"programs": {"gofmt": {"list"}}})
	gives(lists, "gofmt -l main.go")
	not gives(lists, "cat main.go")
	not gives(given, {"tool": "Read", "input": {"file_path": "/home/dev/project/main.go"}})
	not gives(given, {"tool": "LS", "input": {"path": "/home/dev/project/src"}})
}

test_a_grant_needs_each_fact_of_a_tool if {
	event := gate.event({"tool": "Read", "input": {"file_path": "/home/dev/docs/x/a.md"}})
	proof.granted(given) with input as event
	every path, value in {
		"/facts/opaque": true, "/facts/unknown": [{"kind": "word"}], "/facts/hosts": [{"host": "x"}], "/facts/code": [{"language": "awk"}], "/flow": [{"origin": "secret"}],
		"/facts/shell": {"commands": []}, "/tool_name": "Write",
	} {
		not proof.granted(given) with input as added(event, path, value)
	}
}

# One thing about a path is another one, and the grant does not reach it.
test_a_grant_reaches_only_such_paths if {
	shell := {"facts": {"shell": {"commands": [command("cat x")], "ground": {"whole": ["/home/dev/docs/all"]}}}}
	every row in [
		["/home/dev/docs/a.md", "read", false, [["path", "/home/dev/other/a.md"], ["resolved", "/home/dev/.ssh/id_rsa"], ["access", "execute"], ["access", "write"], ["access", "delete"]]],
		["/home/dev/project/a", "write", true, [["in_project", false], ["resolved", "/home/dev/x"], ["glob", true], ["access", "execute"], ["access", "delete"]]],
		["/home/dev/project/node_modules", "delete", true, [["in_project", false], ["resolved", "/home/dev/x"], ["glob", true], ["access", "execute"]]],
	] {
		path := {"path": row[0], "resolved": row[0], "access": row[1], "in_project": row[2], "glob": false, "command": 1}
		proof.reached(given, path) with input as shell
		every change in row[3] {
			not proof.reached(given, object.union(path, {change[0]: change[1]})) with input as shell
		}
		proof.reached({"how": {"create"}, "places": given.places, "removes": given.removes}, path) with input as shell
		proof.reached({"how": {"edit"}, "places": given.places, "removes": given.removes}, path) with input as shell
	}
	docs := {"path": "/home/dev/docs/a.md", "resolved": "/home/dev/docs/a.md", "access": "read", "in_project": false, "glob": false, "command": 1}
	proof.reached({"places": {"/home/dev/docs"}}, docs) with input as shell
	not proof.reached({"places": {"/home/dev/other"}}, docs) with input as shell
	writes := {"path": "/home/dev/project/a", "resolved": "/home/dev/project/a", "access": "write", "in_project": true, "glob": false, "command": 1}
	not proof.reached({"how": {"remove"}}, writes) with input as shell
	not proof.reached({"how": set()}, writes) with input as shell
	hidden := {"path": "/home/dev/project/.envrc", "resolved": "/home/dev/project/.envrc"}
	not proof.reached(given, object.union(writes, hidden)) with input as shell
	kept := {"path": "/home/dev/project/src", "resolved": "/home/dev/project/src", "access": "delete"}
	not proof.reached(given, object.union(writes, kept)) with input as shell
}

# A command that goes through all of a directory, or a directory that is read as a file.
test_what_sweeps if {
	path := {"path": "/home/dev/docs/all", "resolved": "/home/dev/docs/all", "in_project": false, "glob": false, "command": 1}
	whole := {"whole": ["/home/dev/docs/all"]}
	cat := {"facts": {"shell": {"commands": [command("cat x"), object.union(command("find ."), {"id": 2})], "ground": whole}}}
	every access in ["read", "use"] {
		proof.sweeps(object.union(path, {"access": access})) with input as cat
		proof.reached(given, object.union(path, {"access": access, "path": "/home/dev/docs/a.md", "resolved": "/home/dev/docs/a.md"})) with input as cat
	}
	not proof.sweeps(object.union(path, {"access": "list"})) with input as cat
	proof.sweeps(object.union(path, {"access": "list", "command": 2})) with input as cat
	every line in ["diff -r a b", "grep -r x a", "ls -R a", "ls --recursive a", "find a", "du a", "tree a", "rg x a"] {
		proof.recurses(command(line))
	}
	every line in ["ls -r a", "ls a", "grep x a", "diff a b", "rm -r a", "cp -R a b", "cat a"] {
		not proof.recurses(command(line))
	}
	every name in ["r", "R", "recursive"] {
		proof.recurses({"program": "grep", "options": {name: [true]}})
	}
}

# One thing about an effect is another one, and the grant does not expect it.
test_a_grant_expects_only_such_effects if {
	every row in [
		[
			{"kind": "fs.read", "could_be": [], "area": "user", "path": "/home/dev/docs/a.md"},
			[["kind", "fs.write"], ["could_be", ["root"]], ["area", "root"], ["area", "git"], ["path", "/home/dev/other/a.md"], ["path", "/home/dev/docs/.env"]],
		],
		[
			{"kind": "fs.write", "could_be": [], "area": "project", "how": "create", "recursive": false, "path": "/home/dev/project/a"},
			[["kind", "fs.move"], ["could_be", ["root"]], ["area", "user"], ["how", "overwrite"], ["recursive", true], ["path", "/home/dev/project/.envrc"]],
		],
		[
			{"kind": "fs.write", "could_be": [], "area": "project", "how": "edit", "recursive": false, "path": "/home/dev/project/a.go"},
			[["kind", "fs.move"], ["could_be", ["root"]], ["area", "user"], ["how", "truncate"], ["recursive", true], ["path", "/home/dev/project/a.sh"], ["path", "/home/dev/project/.x/a.go"]],
		],
		[
			{"kind": "fs.delete", "could_be": [], "area": "project", "how": "remove", "glob": false, "path": "/home/dev/project/node_modules"},
			[["kind", "fs.move"], ["could_be", ["root"]], ["area", "user"], ["how", "move"], ["glob", true], ["path", "/home/dev/project/src"]],
		],
	] {
		proof.expected(given, row[0])
		every change in row[1] {
			not proof.expected(given, object.union(row[0], {change[0]: change[1]}))
		}
	}
	every area in ["cache", "outside", "system", "temp", "user"] {
		proof.expected(given, {"kind": "fs.read", "could_be": [], "area": area, "path": "/home/dev/docs/a.md"})
	}
	every how, other in {"create": "edit", "edit": "create"} {
		effect := {"kind": "fs.write", "could_be": [], "area": "project", "how": how, "recursive": false, "path": "/home/dev/project/a.go"}
		proof.expected(object.union(given, {"how": how_only(how)}), effect)
		not proof.expected({"how": how_only(other), "places": set(), "removes": set()}, effect)
	}
}

how_only(how) := {how}

test_below_shows_nothing_hidden if {
	proof.below("/home/dev/docs/x/a.md", "/home/dev/docs")
	not proof.below("/home/dev/docs/.git/config", "/home/dev/docs")
	not proof.below("/home/dev/docs2/a.md", "/home/dev/docs")
}
