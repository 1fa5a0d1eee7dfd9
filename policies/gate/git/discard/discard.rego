# METADATA
# title: Loss of uncommitted work
# description: |
#   Throwing away changes that are not committed is put to a person: git keeps
#   no copy of them.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(git.discard)]
package gate.git.discard

import data.gate.lib

# METADATA
# description: one question for each command that throws changes away
ask contains {
	"reason": sprintf("throws away uncommitted work in %s (git %s); commit or stash it first", [
		what(effect), lib.text(effect, "verb", "command"),
	]),
	"help": "Git keeps no copy of changes that were never committed.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("git.discard")
	not lib.matches(effect, "verb", `--(abort|quit)`)
}

what(effect) := concat(", ", names) if {
	names := lib.texts(effect, "paths")
	count(names) > 0
}

else := "the whole project"
