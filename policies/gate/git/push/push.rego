# METADATA
# title: Destructive push
# description: |
#   Overwriting or deleting protected branches on a remote is rejected; other
#   forced pushes and deletions are put to a person. This policy ignores ordinary
#   pushes, and pushes with a lease to other branches.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       owasp-agentic: [ASI02]
#     if: [effect(git.push)]
#     params:
#       protected:
#         type: array
#         default: [main, master, trunk, develop, production, prod, release, stable]
#         description: branches whose history nobody overwrites
package gate.git.push

import data.gate.lib

# METADATA
# description: history that other people build on
deny contains {
	"reason": sprintf("%s; push a new branch and open a pull request", [what]),
	"help": "Other people's commits on the remote would be lost.",
	"span": lib.span(push),
} if {
	some push in lib.effects("git.push")
	what := forbidden(push)
}

# METADATA
# description: history that may be the agent's own
ask contains {
	"reason": sprintf("%s; %s", [what, instead]),
	"help": "Check that nobody else has commits there.",
	"span": lib.span(push),
} if {
	some push in lib.effects("git.push")
	not forbidden(push)
	[what, instead] := doubtful(push)
}

forbidden(push) := "makes the remote a mirror, which deletes every branch that only the remote has" if {
	lib.is(push, "mirror", true)
}

else := "overwrites every branch of the remote" if {
	forced(push)
	lib.is(push, "all", true)
}

else := sprintf("overwrites the history of %s on the remote", [concat(", ", names)]) if {
	forced(push)
	names := protected(push)
}

else := sprintf("deletes %s on the remote", [concat(", ", names)]) if {
	lib.is(push, "delete", true)
	names := protected(push)
}

doubtful(push) := ["deletes branches or tags on the remote", "leave that to the person who merges"] if {
	lib.is(push, "delete", true)
}

else := [sprintf("overwrites the history of %s on the remote", [target(push)]), "use --force-with-lease"] if {
	forced(push)
}

else := [
	sprintf("overwrites the history of %s, though with a lease", [concat(", ", names)]),
	"push a new branch and open a pull request",
] if {
	lib.is(push, "lease", true)
	names := protected(push)
}

else := [
	sprintf("pushes to the remote %s, which this line makes itself", [push.remote]),
	"push to a remote that the person set up",
] if {
	some made in lib.effects("git.remote")
	made.verb in {"add", "set-url"}
	made.name == push.remote
}

else := [
	sprintf("pushes to %s instead of a remote of this repository", [push.remote]),
	"push to a configured remote",
] if {
	lib.matches(push, "remote", `://|^[^/]+@[^/]+:`)
}

# A plain --force beside a lease wins over it.
forced(push) if lib.could_be(push, "force", true)

# The protected branches of a push; undefined if there are none.
protected(push) := names if {
	names := sort({branch |
		some branch in lib.texts(push, "branches")
		short(branch) in data.gate.params.gate.git.push.protected
	})
	count(names) > 0
}

short(branch) := trim_prefix(branch, "refs/heads/")

target(push) := concat(", ", names) if {
	names := lib.texts(push, "branches")
	count(names) > 0
}

else := "a branch that is not named"
