# METADATA
# title: Unknown programs near production
# description: |
#   The handler judge of hooks.yaml looks at a call that runs a program which gate does
#   not know, in a directory of production or with a path in one. Without a judge
#   the call is rejected.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: ["Bash(*)"]
#     params:
#       directories: {type: array, default: [/srv/production, /etc/acme], description: directories of production}
package company.judge_production

import data.gate.lib

consult contains {"hook": "judge", "reason": sprintf("runs %s, which is not known, near %s", [lib.text(command, "program", "a program"), directory])} if {
	some command in input.facts.shell.commands
	not command.known
	some directory in data.gate.params.company.judge_production.directories
	near(command, directory)
}

near(command, directory) if true in {lib.within(path, directory) | some path in [command.cwd, command.path]}

near(command, directory) if {
	some path in input.facts.paths
	path.command == command.id
	lib.within(path.path, directory)
}
