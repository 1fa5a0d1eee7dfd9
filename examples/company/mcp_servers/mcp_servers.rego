# METADATA
# title: Approved MCP servers
# description: Agents call tools of approved MCP servers only.
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: mcp__.*
#     params:
#       servers:
#         type: array
#         default: [github, jira, figma]
#         description: names of servers that are approved
package company.mcp_servers

deny contains sprintf("the MCP server %q is not approved; use a tool of %s", [server, concat(", ", approved)]) if {
	approved := data.gate.params.company.mcp_servers.servers
	server := split(input.tool_name, "__")[1]
	not server in approved
}
