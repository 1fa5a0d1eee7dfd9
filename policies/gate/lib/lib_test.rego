package gate.lib_test

import data.gate.lib

test_is_holds_for_what_is_known if {
	lib.is({"force": true}, "force", true)
	lib.is({"branches": ["a", "main"]}, "branches", "main")
	not lib.is({"force": null}, "force", true)
	not lib.is({"force": false}, "force", true)
	not lib.is({}, "force", true)
	not lib.is({"branches": ["a", null]}, "branches", "main")
}

test_could_be_holds_for_what_is_not_known if {
	lib.could_be({"force": true}, "force", true)
	lib.could_be({"force": null}, "force", true)
	lib.could_be({}, "force", true)
	lib.could_be({"branches": ["a", null]}, "branches", "main")
	not lib.could_be({"force": false}, "force", true)
	not lib.could_be({"branches": ["a"]}, "branches", "main")
}

test_text_replaces_what_is_not_known if {
	lib.text({"host": "h"}, "host", "a host") == "h"
	lib.text({"host": null}, "host", "a host") == "a host"
	lib.text({}, "host", "a host") == "a host"
}

test_texts_leaves_out_what_is_not_known if {
	lib.texts({"paths": ["a", null, "b"]}, "paths") == ["a", "b"]
	lib.texts({"paths": null}, "paths") == []
	lib.texts({}, "paths") == []
}

test_matches_only_texts if {
	lib.matches({"path": "/x/y"}, "path", `^/x/`)
	not lib.matches({"path": "/z"}, "path", `^/x/`)
	not lib.matches({"path": null}, "path", `.*`)
	not lib.matches({}, "path", `.*`)
}

test_within_compares_whole_names if {
	lib.within("/a/b", "/a")
	lib.within("/a", "/a")
	not lib.within("/ab", "/a")
	not lib.within(null, "/a")
}

test_site_is_what_is_added_to_a_machine if {
	every dir in ["/usr/local", "/opt", "/srv", "/mnt", "/media", "/var", "/run", "/snap"] {
		lib.site(sprintf("%s/x", [dir]))
	}
	not lib.site("/usr/bin/x")
	not lib.site("/opt")
	not lib.site(null)
}

test_base_and_depth if {
	lib.base("/a/b.txt") == "b.txt"
	lib.base("b.txt") == "b.txt"
	not lib.base(null)
	not lib.depth(null)
	lib.depth("/") == 0
	lib.depth("/a/b/") == 2
}

test_in_home if {
	lib.in_home("/home/dev/.ssh/id_rsa") == ".ssh/id_rsa"
	lib.in_home("/Users/dev/x") == "x"
	lib.in_home("/root/x") == "x"
	not lib.in_home("/home/dev")
	not lib.in_home("/etc/x")
	not lib.in_home("/srv/a/b/c")
	not lib.in_home(null)
}

test_shown_is_short if {
	event := {"cwd": "/home/dev/project", "gate": {"user": "dev"}}
	lib.shown("/home/dev/project/a/b") == "a/b" with input as event
	lib.shown("/home/dev/project") == "~/project" with input as event
	lib.shown("/home/dev/.bashrc") == "~/.bashrc" with input as event
	lib.shown("/home/dev") == "~" with input as event
	lib.shown("/Users/dev/x") == "~/x" with input as event
	lib.shown("/home/device/x") == "/home/device/x" with input as event
	lib.shown("/etc/hosts") == "/etc/hosts" with input as event
	lib.shown("/home/dev/x") == "/home/dev/x" with input as {}
	lib.shown("/root") == "/root" with input as event
	administrator := {"cwd": "/srv", "gate": {"user": "root"}}
	lib.shown("/root") == "~" with input as administrator
	lib.shown("/var/root/x") == "~/x" with input as administrator
	lib.shown("/rooted/x") == "/rooted/x" with input as administrator
	lib.shown(null) == "a path that is not known" with input as event
}

test_target_tells_where_links_lead if {
	event := {"cwd": "/home/dev/project", "gate": {"user": "dev"}}
	lib.target({"path": "/home/dev/project/h", "resolved": "/home/dev"}) == "h (which is ~)" with input as event
	lib.target({"path": "/home/dev/x", "resolved": "/home/dev/x"}) == "~/x" with input as event
	lib.target({"path": "/home/dev/x", "resolved": null}) == "~/x" with input as event
	lib.target({"path": null, "resolved": null}) == "a path that is not known" with input as event
	lib.target({}) == "a path that is not known" with input as event
}

test_span_is_that_of_the_command if {
	event := gate.event("true && rm -rf x")
	some effect in lib.effects("fs.delete") with input as event
	lib.command(effect).program == "rm" with input as event
	lib.span(effect) == [8, 16] with input as event
	lib.span({"command": null}) == null with input as event
	lib.span({"command": 9}) == null with input as event
	lib.span({"command": 1, "span": [1, 2]}) == [1, 2] with input as event
	lib.span({"command": 1, "span": null}) == [0, 4] with input as event
}

test_span_of_a_command_inside_another if {
	event := gate.event("true; su root -c 'rm -rf /srv'")
	some effect in lib.effects("fs.delete") with input as event
	lib.span(effect) == [6, 30] with input as event
}

test_span_is_that_of_the_nearest_command_around if {
	every commands, want in {
		[{"depth": 0, "span": [0, 4]}, {"depth": 1, "span": null}, {"depth": 0, "span": [6, 9]}]: [0, 4],
		[{"depth": 0, "span": [0, 4]}, {"depth": 1, "span": null}, {"depth": 0, "span": null}]: [0, 4],
		[{"depth": 0, "span": [0, 1]}, {"depth": 0, "span": [2, 4]}, {"depth": 1, "span": null}]: [2, 4],
		[{"depth": 0, "span": [0, 4]}, {"depth": 0, "span": null}, {"depth": 1, "span": null}]: [0, 4],
		[{"depth": 1, "span": null}, {"depth": 0, "span": [0, 9]}, {"depth": 0, "span": [10, 12]}]: [0, 9],
		[{"depth": 1, "span": [0, 4]}, {"depth": 1, "span": null}]: null,
		[{"depth": 0, "span": null}, {"depth": 1, "span": null}]: null,
	} {
		numbered := [object.union(c, {"id": i}) | some i, c in commands]
		inner := [c.id | some c in numbered; c.depth == 1; c.span == null]
		lib.span({"command": inner[0]}) == want with input as {"facts": {"shell": {"commands": numbered}}}
	}
}

test_effects_of_a_kind if {
	count(lib.effects("fs.delete")) == 2 with input as gate.event("rm a; rm b; cat c")
	count(lib.effects("fs.delete")) == 0 with input as gate.event("ls")
}

test_unknown if {
	lib.unknown({"context": null}, "context")
	lib.unknown({}, "context")
	lib.unknown({"branches": ["a", null]}, "branches")
	lib.unknown({"branches": [], "branches_from": "unknown"}, "branches")
	lib.unknown({"branches": ["a"], "branches_from": "unknown"}, "branches")
	not lib.unknown({"branches": ["a"], "branches_from": "refspec"}, "branches")
	not lib.unknown({"branches": []}, "branches")
	not lib.unknown({"force": false}, "force")
}

test_could_be_where_the_source_is_not_known if {
	lib.could_be({"branches": [], "branches_from": "unknown"}, "branches", "main")
	not lib.could_be({"branches": [], "branches_from": "config"}, "branches", "main")
}

test_commands_of_a_program if {
	count(lib.commands("git")) == 2 with input as gate.event("git status; sudo sh -c 'git push'; ls")
	count(lib.commands("git")) == 0 with input as gate.event("echo git")
	count(lib.commands("git")) == 0 with input as gate.event({"tool": "Read", "input": {"file_path": "git"}})
}

test_begins_with_words if {
	command := {"words": [{"value": "go"}, {"value": "test"}, {"value": null}]}
	lib.begins(command, ["go"])
	lib.begins(command, ["go", "test"])
	not lib.begins(command, ["go", "build"])
	not lib.begins(command, ["go", "test", "./..."])
	not lib.begins(command, [])
	not lib.begins({"words": []}, ["go"])
}

test_begins_with_a_program_by_its_path if {
	every line in ["/usr/bin/alembic upgrade head", `'alembic' upgrade`, "alembic upgrade"] {
		some command in input.facts.shell.commands with input as gate.event(line)
		lib.begins(command, ["alembic", "upgrade"])
		not lib.begins(command, ["upgrade"])
	}
}

test_covers if {
	lib.covers("main", "main")
	lib.covers("*", "main")
	lib.covers("release/*", "release/1")
	lib.covers("r*e", "re")
	not lib.covers("main", "maintenance")
	not lib.covers("release/*", "feature/release/1")
	not lib.covers("ab*ba", "aba")
	not lib.covers("a*b*c", "abc")
	not lib.covers("*x", "main")
}

test_host_in if {
	domains := ["acme.example", "internal"]
	lib.host_in("acme.example", domains)
	lib.host_in("git.acme.example", domains)
	not lib.host_in("evilacme.example", domains)
	not lib.host_in("acme.example.evil.example", domains)
	not lib.host_in(null, domains)
}

test_of_git if {
	every path in [
		"/p/.git", "/p/.git/HEAD", "/p/.git/refs/heads/x", "/p/.git/objects", "/p/.git/index", "/p/.git/ORIG_HEAD",
		"/p/.git/worktrees/a/HEAD", "/p/.git/config", "/p/.git/info/attributes", null,
	] {
		lib.of_git(path)
	}
	every path in ["/p/.git/gk/config", "/p/.git/review.diff", "/p/.git/my-tool/HEAD", "/p/.git/MERGE_MSG.bak", "/p/src/HEAD"] {
		not lib.of_git(path)
	}
}
