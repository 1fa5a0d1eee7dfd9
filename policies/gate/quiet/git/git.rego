# METADATA
# title: Everyday git on this machine
# description: |
#   Allows git to show the state of the repository, to take up named files, and to
#   commit, where nothing has git start another program. Off until it is switched on.
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Bash
#     if: ["Bash(git:*)"]
#     when_set: [on]
#     params:
#       on: {type: boolean, default: false, description: whether such lines are allowed without a question}
package gate.quiet.git

import data.gate.proof

# METADATA
# description: everything of the line is on the list, and some of it is git
allow contains {
	"reason": sprintf(
		"works in this repository alone (%s); all of it is understood, no setting, variable, hook or submodule has git start another program, and nothing is secret, sent, dropped or rewritten",
		[proof.listed],
	),
	"span": proof.whole,
} if {
	data.gate.params.gate.quiet.git.on == true
	proof.understood
	proof.undisturbed(input.session)
	some command in input.facts.shell.commands
	proof.git(command)
	every other in input.facts.shell.commands {
		harmless(other)
	}

	# A line without an effect does nothing.
	# gate ignore: never
	every effect in input.facts.effects {
		proof.reads(effect)
	}
}

harmless(command) if proof.looks(command)

harmless(command) if proof.git(command)
