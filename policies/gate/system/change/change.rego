# METADATA
# title: Change of the machine
# description: |
#   Stopping the machine and changing its accounts, kernel or firewall is
#   rejected; services, mounts and clocks are put to a person. Looking is free.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       owasp-agentic: [ASI02, ASI03]
#     if: [effect(system)]
package gate.system.change

import data.gate.lib

# METADATA
# description: what takes the machine down or opens it
deny contains {
	"reason": sprintf("%s; tell the person what you need and let them do it", [phrase(effect)]),
	"help": "This affects every account and program on the machine.",
	"span": lib.span(effect),
} if {
	some effect in changes
	effect.verb in object.keys(grave)
}

# METADATA
# description: what may be a part of the task
ask contains {
	"reason": sprintf("%s; tell the person why you need it", [phrase(effect)]),
	"help": "This changes the machine outside the project.",
	"span": lib.span(effect),
} if {
	some effect in changes
	not lib.text(effect, "verb", "") in object.keys(grave)
}

changes := {effect | some effect in lib.effects("system"); lib.could_be(effect, "access", "write")}

grave := {
	"shutdown": "stops the machine",
	"reboot": "restarts the machine",
	"power": "stops the machine",
	"firewall": "changes the firewall",
	"kernel": "changes the running kernel",
	"user": "changes accounts of the machine",
	"sysctl": "changes kernel settings",
}

mild := {
	"service": "changes the running services",
	"mount": "changes what is mounted",
	"time": "changes the clock",
	"swap": "changes the swap space",
	"privilege": "takes the administrator's rights",
	"history": "removes the record of commands",
	"quarantine": "hides files, or takes off the mark of where they come from",
}

phrase(effect) := sprintf("%s%s", [
	object.get(object.union(mild, grave), lib.text(effect, "verb", ""), "changes the machine"),
	of(effect),
])

of(effect) := sprintf(" (%s)", [effect.what]) if is_string(effect.what)

else := ""
