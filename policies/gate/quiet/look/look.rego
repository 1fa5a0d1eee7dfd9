# METADATA
# title: Commands that only look
# description: |
#   Allows shell lines that look at files of the project and change nothing. Off
#   until it is switched on.
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Bash
#     when_set: [on]
#     params:
#       on: {type: boolean, default: false, description: whether such lines are allowed without a question}
package gate.quiet.look

import data.gate.proof

# METADATA
# description: everything of the line is on the list
allow contains {
	"reason": sprintf(
		"only looks (%s); all of it is understood, each command and option is known to look, each path is a plain file of the project or a public one of the system, and nothing is secret, written, sent or run",
		[proof.listed],
	),
	"span": proof.whole,
} if {
	data.gate.params.gate.quiet.look.on == true
	proof.understood

	# gate ignore: never
	every command in input.facts.shell.commands { # of which there is one, says proof.clear
		proof.looks(command)
	}

	# A line without an effect does nothing.
	# gate ignore: never
	every effect in input.facts.effects {
		proof.reads(effect)
	}
}
