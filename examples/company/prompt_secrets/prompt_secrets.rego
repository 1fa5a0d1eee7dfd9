# METADATA
# title: No secrets in prompts
# description: Rejects a prompt that holds a key, before it reaches the model and the transcript.
# custom:
#   gate:
#     events: [UserPromptSubmit]
#     params:
#       patterns:
#         type: object
#         default:
#           an AWS key: \bAKIA[0-9A-Z]{16}\b
#           a GitHub token: \bgh[pousr]_[A-Za-z0-9]{36,}\b
#           a private key: "-----BEGIN ([A-Z]+ )*PRIVATE KEY-----"
#         description: names and RE2 expressions of secrets
package company.prompt_secrets

deny contains sprintf("the prompt holds %s; leave it out, and replace it if it was sent before", [name]) if {
	some name, pattern in data.gate.params.company.prompt_secrets.patterns
	regex.match(pattern, input.prompt)
}
