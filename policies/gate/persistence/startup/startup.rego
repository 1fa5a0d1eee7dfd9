# METADATA
# title: Persistence
# description: |
#   Changing what the machine runs by itself later (start-up files, scheduled
#   jobs, services, login keys, hooks) is rejected; milder configuration is put to
#   a person.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       attack: [T1053.003, T1098.004, T1543.001, T1543.002, T1546.004]
#       owasp-agentic: [ASI10]
#     if: [effect(persistence)]
package gate.persistence.startup

import data.gate.lib

# METADATA
# description: code that would run later without anybody asking
deny contains {
	"reason": sprintf("changes code that runs by itself later: %s; show the change to the person and let them make it", [what(effect)]),
	"help": "Code here runs at every login, start or commit, long after this session.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("persistence")
	grave(effect)
}

# METADATA
# description: configuration that steers programs
ask contains {
	"reason": sprintf("changes how programs behave later: %s; show the change to the person first", [what(effect)]),
	"help": "The change stays after this session.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("persistence")
	not grave(effect)
	not harmless(effect)
}

grave(effect) if {
	lib.could_be(effect, "verb", "write")
	not milder(effect)
}

grave(effect) if {
	lib.is(effect, "verb", "delete")
	effect.what in {"shell start-up file", "cron", "service", "authorized keys", "loader"}
}

milder(effect) if effect.what in {"ssh configuration", "git configuration", "interpreter start-up file", "approval switched off"}

# Bits that make a program run as its owner are written, as far as facts go.
harmless(effect) if effect.verb == "permissions"

what(effect) := sprintf("%s (%s)", [lib.target(effect), lib.text(effect, "what", "start-up")]) if is_string(effect.path)

else := lib.text(effect, "what", "start-up")
