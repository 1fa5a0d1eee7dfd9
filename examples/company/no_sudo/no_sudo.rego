# METADATA
# title: No root
# description: Agents do not become root or somebody else, whatever command is behind it.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: ["Bash(*)", unknown(program)]
package company.no_sudo

import data.gate.lib

become := {"sudo", "doas", "su", "pkexec", "run0", "runuser"}

deny contains {"reason": sprintf("runs as another user (%s); do without, or ask the person", [how]), "span": lib.span(command)} if {
	some command in input.facts.shell.commands
	some word in array.concat(command.via, [command.program])
	how := split(lib.text({"word": word}, "word", ""), " ")[0]
	how in become
}
