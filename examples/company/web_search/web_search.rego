# METADATA
# title: Names that stay inside
# description: Searches on the web do not name projects and customers that nobody outside should hear of.
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: WebSearch
#     params:
#       words:
#         type: array
#         default: [project bluebird, acme internal]
#         description: what no search names, in lower case
package company.web_search

deny contains sprintf("the search names %q, which stays inside; search without it", [word]) if {
	some word in data.gate.params.company.web_search.words
	contains(lower(input.tool_input.query), word)
}
