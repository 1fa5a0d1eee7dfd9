# METADATA
# title: Tools of attack
# description: |
#   Miners, dumpers of credentials, exploit frameworks and implants are rejected by
#   their names. Scanners and crackers, which defenders use as well, are put to a
#   person.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       attack: [T1496]
#       owasp-agentic: [ASI10]
#     if: [effect(process)]
package gate.process.attack

import data.gate.lib

# METADATA
# description: one denial for each such tool
deny contains {
	"reason": sprintf("runs %s, %s; if this is your work, run it yourself", [lib.shown(effect.target), does[effect.verb]]),
	"help": "The name is one of a known tool of attack.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("process")
	effect.verb in object.keys(does)
}

# METADATA
# description: one question for each tool of both sides
ask contains {
	"reason": sprintf("runs %s, which tries passwords or looks for holes; say whose machines it reaches", [lib.shown(effect.target)]),
	"help": "Such a scan of other people's machines may be a crime.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("process")
	effect.verb == "probe"
}

does := {
	"attack": "which breaks in or takes credentials",
	"mine": "which mines on this machine",
}
