# METADATA
# title: Ticket in the commit message
# description: Tells the agent to name the ticket when a commit message names none. Stops nothing.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: ["Bash(git commit:*)"]
#     params:
#       ticket:
#         type: string
#         default: \b[A-Z][A-Z0-9]+-[0-9]+\b
#         description: what a ticket looks like, an RE2 expression
package company.commit_ticket

import data.gate.lib

context contains "Commits here name their ticket in the last line, as in: Refs: SHOP-123" if {
	some command in lib.commands("git")
	command.subcommand == "commit"
	not lib.unknown(command.options, "message")
	every text in command.options.message {
		not regex.match(data.gate.params.company.commit_ticket.ticket, text)
	}
}
