# METADATA
# title: Everyday git with known remotes
# description: |
#   Allows git to fetch, to pull without a merge, and to push without force. Settings
#   name the address, and nothing has git start another program. Off until it is
#   switched on and addresses are named.
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Bash
#     if: ["Bash(git:*)"]
#     when_set: [on]
#     params:
#       on: {type: boolean, default: false, description: whether such lines are allowed without a question}
#       remotes: {type: array, default: [], description: "addresses of repositories, such as github.com/acme/*"}
package gate.quiet.remote

import data.gate.lib
import data.gate.proof

params := data.gate.params.gate.quiet.remote

# METADATA
# description: everything of the line is on the list, and some of it talks to a remote that settings name
allow contains {
	"reason": sprintf(
		"exchanges commits with a repository that settings name (%s); all of it is understood, no setting, variable, hook or submodule has git start another program, and nothing is secret, forced or deleted",
		[proof.listed],
	),
	"span": proof.whole,
} if {
	params.on == true
	proof.clear
	proof.undisturbed(input.session)

	# gate ignore: never
	every path in input.facts.paths { # a fetch has none
		known(path)
	}
	some command in input.facts.shell.commands
	exchanges(command)
	every other in input.facts.shell.commands {
		harmless(other)
	}

	# A line without an effect does nothing.
	# gate ignore: never
	every effect in input.facts.effects {
		expected(effect)
	}
}

# A pull writes files.
known(path) if proof.seen(path)

known(path) if {
	path.access == "write"
	pulls(path.command)
}

pulls(id) if {
	some command in lib.commands("git")
	command.id == id
	command.subcommand == "pull"
}

harmless(command) if proof.looks(command)

harmless(command) if proof.git(command)

harmless(command) if exchanges(command)

exchanges(command) if {
	proof.exchange(command)
	count(command.repository.remotes) > 0
	every address in command.repository.remotes {
		named(address)
	}
	adds(command)
}

# A pull that merges or rebases may run hooks and leave conflicts.
adds(command) if {
	command.subcommand == "pull"
	command.options["ff-only"]
}

adds(command) if command.subcommand in {"fetch", "push"}

# METADATA
# description: the address is of the web with https or of ssh, and settings name it
named(address) if {
	found := regex.find_all_string_submatch_n(`^(?:https|ssh)://([a-z0-9.-]+(?::[0-9]+)?/[A-Za-z0-9._~/-]+?)(?:\.git)?/?$`, address, 1)
	not contains(address, "..")
	some pattern in params.remotes
	lib.covers(pattern, found[0][1])
}

expected(effect) if proof.reads(effect)

expected(effect) if {
	effect.kind == "fs.write"
	effect.area in {"project", "project_root"}
	pulls(effect.command)
}

expected(effect) if {
	effect.kind == "git.push"
	effect.branches_from in {"refspec", "head", "config"}
	count(effect.branches) > 0
	every branch in effect.branches {
		not shared(branch)
	}
	every field in ["force", "lease", "all", "mirror", "tags", "delete"] {
		effect[field] == false
	}
}

# Branches from which many work and releases are made, by their usual names, and refs that
# are no branches.
shared(branch) if {
	is_string(branch)
	proof.fits(lower(branch), `^(main|master|trunk|mainline|default|dev|develop|development|next|stable|staging|stage|live|prod|production|gh-pages|head|(release|releases|hotfix)([-/].*)?|v?[0-9.]+(\.x)?|refs/.*)$`)
}

shared(branch) if not is_string(branch)
