# METADATA
# title: Reading of secrets
# description: |
#   Showing private keys, credential stores and password files to the agent is
#   rejected. Showing files that may hold secrets, such as .env, what a password
#   store prints, or the whole environment, is put to a person. Programs may use
#   secrets without showing them.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       attack: [T1552.001, T1552.004]
#       owasp-agentic: [ASI03]
#       owasp-mcp: [MCP01]
#     if: [effect(secret.read)]
package gate.secrets.read

import data.gate.lib

# METADATA
# description: secrets and nothing else
deny contains {
	"reason": sprintf("shows %s (%s); let the program that needs it read it, and never print it", [
		what(effect), lib.text(effect, "what", "secret"),
	]),
	"help": "The agent's model and transcripts get every text that the agent reads. Replace a secret that was shown there.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("secret.read")
	lib.could_be(effect, "shown", true)
	key(effect)
}

# METADATA
# description: what is asked for by name, and files that hold secrets among other things
ask contains {
	"reason": sprintf("may show secrets of %s; read only the names, or let a program use the values without printing them", [of(effect)]),
	"help": "The agent's model and transcripts get every text that the agent reads.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("secret.read")
	lib.could_be(effect, "shown", true)
	not key(effect)
}

key(effect) if {
	lib.is(effect, "grade", "key")
	is_string(effect.path)
}

# What a program prints from its own store.
key(effect) if effect.what in {"private key", "GnuPG keys"}

what(effect) := lib.shown(effect.path) if is_string(effect.path)

else := "a secret"

of(effect) := sprintf("%s (%s)", [lib.shown(effect.path), lib.text(effect, "what", "secret")]) if is_string(effect.path)

else := sprintf("the %s", [lib.text(effect, "what", "machine")])
