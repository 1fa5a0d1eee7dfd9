# METADATA
# title: Protection of the guard
# description: |
#   The agent may not change its own guard: its settings and hooks, policies,
#   their state and programs. Nor may it start sessions without a guard.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       attack: [T1562.001]
#       owasp-agentic: [ASI10]
#     if: [effect(self), effect(fs.write), effect(fs.delete), effect(fs.permissions), effect(process)]
#     priority: 1000
package gate.self_protection.change

import data.gate.lib

# METADATA
# description: one denial for each attempt
deny contains {
	"reason": sprintf("changes %s; only a person may change what guards the agent", [what(effect)]),
	"help": "Change it yourself at a terminal if that is what you want.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("self")
	not is_string(effect.change)
}

# METADATA
# description: entries of the project's own agent settings that switch no guard off
ask contains {
	"reason": sprintf("changes %s: %s; let the person decide", [lib.target(effect), effect.change]),
	"help": "The agent works by these settings. No guard is among them.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("self")
	is_string(effect.change)
}

# METADATA
# description: gate's own programs, wherever they are installed
deny contains {
	"reason": sprintf("changes gate's own program (%s); only a person may change what guards the agent", [lib.target(effect)]),
	"help": "Change it yourself at a terminal if that is what you want.",
	"span": lib.span(effect),
} if {
	some kind in ["fs.write", "fs.delete", "fs.permissions"]
	some effect in lib.effects(kind)
	lib.matches(effect, "path", `/bin/gate(-hook|-run|-server)?(\.exe)?$`)
}

# METADATA
# description: gate's own processes, found by their name or by the port of gate serve
deny contains {
	"reason": "ends gate's own process; only a person may stop what guards the agent",
	"help": "Stop it yourself at a terminal if that is what you want.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("process")
	is_null(effect.target)
	some program, pattern in {
		"pgrep": `(^|[/^])(\[g\]|g)ate(-hook|-server)?($|[$ ])`,
		"pidof": `(^|/)gate(-hook|-run|-server)?$`,
		"lsof": `:4283$|/gate\.sock$`,
		"fuser": `^4283(/tcp)?$|/gate\.sock$`,
	}
	some command in lib.commands(program)
	some word in command.words
	lib.matches(word, "value", pattern)
}

what(effect) := sprintf("%s (%s)", [lib.target(effect), lib.text(effect, "what", "settings")]) if is_string(effect.path)

else := sprintf("what guards the agent (%s)", [lib.text(effect, "what", "settings")])
