# METADATA
# title: Killing of what others need
# description: |
#   Ending every process, the system's own ones or the machine's ability to start
#   more is rejected. Ending processes of one's own is ordinary work.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       attack: [T1489]
#       owasp-agentic: [ASI02]
#     if: [effect(process)]
package gate.process.kill

import data.gate.lib

# METADATA
# description: one denial for each such command
deny contains {
	"reason": sprintf("%s; end only processes that this session started, by their id", [what]),
	"help": "Unsaved work in other programs, or the whole session, would be lost.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("process")
	what := forbidden(effect)
}

# METADATA
# description: whatever a list of all processes holds
deny contains {
	"reason": "ends every process that ps lists; end only processes that this session started, by their id",
	"help": "Unsaved work in other programs, or the whole session, would be lost.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("process")
	is_null(effect.target)
	not forbidden(effect)
	some list in lib.commands("ps")
	everybody(list)
	not chosen
}

# Options of ps that list other people's processes, or all of this one's.
everybody(list) if {
	some word in list.words
	lib.matches(word, "value", `^(-[a-zA-Z]*[eA][a-zA-Z]*|[a-zA-Z]*[ax][a-zA-Z]*)$`)
}

# METADATA
# description: whatever computes on the machine's graphics cards
ask contains {
	"reason": sprintf("ends every process that %s lists; end only processes that this session started, by their id", [program]),
	"help": "Those computations may be somebody else's, and take days.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("process")
	is_null(effect.target)
	some program, option in {"nvidia-smi": "query-compute-apps", "rocm-smi": "showpids"}
	some list in lib.commands(program)
	list.options[option]
	not chosen
}

# Somebody picks out lines of the list.
chosen if {
	some program in ["grep", "egrep", "fgrep", "rg", "ag", "sed", "pgrep", "perl", "python3", "fzf"]
	some command in lib.commands(program)
	not command.options["invert-match"]
}

chosen if {
	some program in ["awk", "gawk", "mawk"]
	some command in lib.commands(program)
	some word in command.words
	lib.matches(word, "value", `[/~<>]|==|!=|NR`)
}

chosen if {
	some list in lib.commands("ps")
	some word in list.words
	lib.matches(word, "value", `^(-[CpuUgGt]|--(pid|ppid|user|group|tty|sid).*)`)
}

forbidden(effect) := "starts an endless number of processes" if effect.verb == "fork bomb"

else := "ends every process of the machine or the account" if lib.is(effect, "all", true)

else := "ends every process of the machine or the account" if effect.target == "1"

else := sprintf("ends %s, which guards the machine", [effect.target]) if lib.matches(effect, "target", guards)

else := sprintf("ends %s, which the machine or the agent needs", [effect.target]) if {
	effect.target in {
		"init", "launchd", "sshd", "dbus-daemon", "Xorg", "gnome-shell", "dockerd", "containerd", "WindowServer",
		"loginwindow", "NetworkManager", "gate", "gate-hook", "gate-run", "gate-server", "claude", "codex",
	}
}

# Families of programs that watch over a machine, by the beginning of their names.
guards := concat("", [
	`(?i)^(com\.)?(falcon|crowdstrike|crowdsec|wazuh|ossec|osquery|sentinel(one|agent|ctl)|carbonblack|cb(agent|daemon|osx)|mdatp|wdav|clamd|freshclam|`,
	`elastic-(agent|endpoint)|fail2ban|auditd|auditbeat|filebeat|rsyslog|syslog|systemd|falco|tetragon|sysmon|suricata|snort|tripwire|aide$|splunk|`,
	`nessus|qualys|rapid7|tanium|cortex|xagt|sophos|savd|mcafee|symantec|trellix|cylance|jamf|tccd|xprotect|securityd|trustd|syspolicyd|logd$|opendirectoryd)`,
])
