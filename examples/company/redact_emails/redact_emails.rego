# METADATA
# title: No e-mail addresses in tool output
# description: Takes e-mail addresses out of what tools return, so that they do not reach the model.
# custom:
#   gate:
#     events: [PostToolUse]
#     params:
#       keep: {type: string, default: "@acme.example", description: addresses that end so are no secret}
package company.redact_emails

modify contains {"reason": "e-mail addresses were taken out", "input": json.patch(input.tool_response, patches)} if {
	patches := [{"op": "replace", "path": path, "value": clean} |
		walk(input.tool_response, [path, text])
		is_string(text)
		addresses := {a | some a in regex.find_n(`[\w.+-]+@[\w-]+(\.[\w-]+)+`, text, -1); not endswith(a, keep)}
		clean := strings.replace_n({a: "[e-mail]" | some a in addresses}, text)
		clean != text
	]
	count(patches) > 0
}

keep := data.gate.params.company.redact_emails.keep
