# METADATA
# title: Licence headers
# description: After a new source file without a licence header, tells the agent to add one.
# custom:
#   gate:
#     events: [PostToolUse]
#     matcher: Write
#     params:
#       endings: {type: array, default: [.go, .py, .ts, .java], description: files that need a header}
#       header: {type: string, default: "SPDX-License-Identifier:", description: what a header contains}
package company.licence_header

context contains sprintf("%s has no licence header. Begin it with a comment: %s Apache-2.0", [input.tool_input.file_path, header]) if {
	header := data.gate.params.company.licence_header.header
	some ending in data.gate.params.company.licence_header.endings
	endswith(input.tool_input.file_path, ending)
	not contains(input.tool_input.content, header)
}
