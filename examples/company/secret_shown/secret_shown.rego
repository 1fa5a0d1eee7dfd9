# METADATA
# title: Stop when a secret was shown
# description: |
#   Ends the turn when the output of a tool holds a private key, so that a person
#   can replace the key before the agent goes on.
# custom:
#   gate:
#     events: [PostToolUse]
package company.secret_shown

halt contains {
	"reason": "the output holds a private key, which now stands in the transcript",
	"help": "Replace the key, then start a new session.",
} if {
	regex.match(`-----BEGIN ([A-Z]+ )*PRIVATE KEY-----`, json.marshal(input.tool_response))
}
