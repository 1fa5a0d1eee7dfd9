# METADATA
# title: Change of infrastructure
# description: |
#   Destroying infrastructure without a question is rejected; other deletions and
#   changes are put to a person. Plans, previews and reads are free.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       owasp-agentic: [ASI02]
#     if: [effect(infrastructure)]
package gate.infrastructure.change

import data.gate.lib

# METADATA
# description: destruction that nobody is asked about
deny contains {
	"reason": sprintf("destroys infrastructure without confirmation (%s); make a plan and let the person apply it", [called(effect)]),
	"help": "Machines, networks and data would be gone at once.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("infrastructure")
	effect.access == "delete"
	destroyed(effect)
}

# METADATA
# description: other destruction
ask contains {
	"reason": sprintf("deletes running or shared resources elsewhere (%s); show the planned deletions and let the person run them", [called(effect)]),
	"help": "Check account, workspace and target.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("infrastructure")
	effect.access == "delete"
	not destroyed(effect)
}

# METADATA
# description: changes of what runs
ask contains {
	"reason": sprintf("changes running or shared resources elsewhere (%s); show the planned changes and let the person run them", [called(effect)]),
	"help": "Check account, workspace and target.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("infrastructure")
	not lib.text(effect, "access", "") in {"read", "delete"}
}

# Forgetting what there is leaves it running.
destroyed(effect) if {
	lib.is(effect, "approved", true)
	not lib.matches(effect, "verb", `^(state|workspace|stack|context|config) `)
}

called(effect) := sprintf("%s %s%s", [lib.text(effect, "tool", "tool"), lib.text(effect, "verb", ""), of(effect)])

of(effect) := sprintf(" of %s", [effect.target]) if is_string(effect.target)

else := ""
