# METADATA
# title: No keys in tool output
# description: Takes keys of clouds and servers out of what tools return.
# custom:
#   gate:
#     events: [PostToolUse]
#     params:
#       patterns:
#         type: array
#         default: ['\bAKIA[0-9A-Z]{16}\b', '\bgh[pousr]_[A-Za-z0-9]{36,}\b', '\bxox[abprs]-[A-Za-z0-9-]{10,}']
#         description: RE2 expressions of keys
package company.redact_keys

modify contains {"reason": "keys were taken out of the output", "input": json.patch(input.tool_response, patches)} if {
	pattern := concat("|", data.gate.params.company.redact_keys.patterns)
	patches := [{"op": "replace", "path": path, "value": regex.replace(text, pattern, "[key]")} |
		walk(input.tool_response, [path, text])
		is_string(text)
		regex.match(pattern, text)
	]
	count(patches) > 0
}
