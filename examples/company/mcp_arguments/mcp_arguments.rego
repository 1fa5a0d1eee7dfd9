# METADATA
# title: Arguments of MCP tools
# description: Deployments by the MCP server go to staging, of a released version, and say why.
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: mcp__deploy__start
#     schema:
#       type: object
#       required: [service, environment, version, reason]
#       additionalProperties: false
#       properties:
#         service: {enum: [shop, search, mail]}
#         environment: {const: staging}
#         version: {type: string, pattern: '^v[0-9]+\.[0-9]+\.[0-9]+$'}
#         reason: {type: string, minLength: 10, maxLength: 200}
#         replicas: {type: integer, minimum: 1, maximum: 5}
package company.mcp_arguments
