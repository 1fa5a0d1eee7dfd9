# METADATA
# title: Large files
# description: Warns the person when an agent writes a large file. Stops nothing.
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Write
#     params:
#       characters: {type: number, default: 100000, description: how long a file may be without a warning}
package company.large_write

warn contains sprintf("writes %d characters into %s", [length, input.tool_input.file_path]) if {
	length := count(input.tool_input.content)
	length > data.gate.params.company.large_write.characters
}
