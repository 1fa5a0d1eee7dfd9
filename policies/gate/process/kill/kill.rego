# METADATA
# title: Killing of what others need
# description: |
#   Ending every process, the system's own ones or the machine's ability to start
#   more is rejected. Ending processes of one's own is ordinary work.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(process)]
package gate.process.kill

import data.gate.lib

# METADATA
# description: one denial for each such command
deny contains {
	"reason": sprintf("%s; end only processes that this session started, by their number", [what]),
	"help": "Unsaved work in other programs, or the whole session, would be lost.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("process")
	what := forbidden(effect)
}

forbidden(effect) := "starts processes without end" if effect.verb == "fork bomb"

else := "ends every process of the machine or the account" if lib.is(effect, "all", true)

else := "ends every process of the machine or the account" if effect.target == "1"

else := sprintf("ends %s, which the machine or the agent needs", [effect.target]) if {
	effect.target in {
		"init", "systemd", "launchd", "sshd", "dbus-daemon", "Xorg", "gnome-shell", "dockerd", "containerd", "WindowServer",
		"loginwindow", "systemd-logind", "NetworkManager", "rsyslogd", "auditd", "gate", "gate-hook", "claude", "codex",
	}
}
