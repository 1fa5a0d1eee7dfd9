# METADATA
# title: Bypass of git's checks
# description: |
#   Committing or pushing with hooks or signatures switched off is put to a
#   person: the project put those checks there.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       owasp-agentic: [ASI10]
#     if: [effect(git.bypass)]
package gate.git.bypass

import data.gate.lib

# METADATA
# description: one question for each switch
ask contains {
	"reason": sprintf("switches git's %s off; run the checks, and fix or report what they find", [lib.text(effect, "what", "checks")]),
	"help": "The project's checks would not run for this commit or push.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("git.bypass")
}
