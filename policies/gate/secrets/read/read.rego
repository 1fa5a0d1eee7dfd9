# METADATA
# title: Reading of secrets
# description: |
#   Showing private keys, credential stores and password files to the agent is
#   rejected. Showing files that may hold secrets, such as .env, or the whole
#   environment, is put to a person. Programs may use secrets without showing them.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(secret.read)]
package gate.secrets.read

import data.gate.lib

# METADATA
# description: secrets and nothing else
deny contains {
	"reason": sprintf("shows %s (%s); let the program that needs it read it, and never print it", [
		what(effect), lib.text(effect, "what", "secret"),
	]),
	"help": "What the agent reads goes to its model and into transcripts. A secret shown there must be replaced.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("secret.read")
	lib.could_be(effect, "shown", true)
	lib.is(effect, "grade", "key")
}

# METADATA
# description: files that hold secrets among other things
ask contains {
	"reason": sprintf("shows %s (%s), which may hold secrets; read only the names, or an example file", [
		what(effect), lib.text(effect, "what", "secret"),
	]),
	"help": "What the agent reads goes to its model and into transcripts.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("secret.read")
	lib.could_be(effect, "shown", true)
	not lib.is(effect, "grade", "key")
}

what(effect) := lib.shown(effect.path) if is_string(effect.path)

else := "a secret"
