# METADATA
# title: Changes by MCP tools
# description: A person agrees before an MCP tool changes something elsewhere. Reading is free.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(tool)]
#     params:
#       free:
#         type: array
#         default: [mcp__jira__add_comment]
#         description: tools that nobody is asked about
package company.mcp_writes

import data.gate.lib

ask contains {
	"reason": sprintf("%s changes something elsewhere (%s); say what and why", [effect.tool, lib.text(effect, "verb", "change")]),
	"help": "Look at the input of the call: other people will see what it does.",
} if {
	some effect in lib.effects("tool")
	not effect.tool in data.gate.params.company.mcp_writes.free
}
