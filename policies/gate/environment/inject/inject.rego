# METADATA
# title: Environment that runs code
# description: |
#   Variables that make later programs load or run something else are rejected;
#   those that move traffic or libraries are put to a person. This policy ignores
#   ordinary variables.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       attack: [T1574.006]
#       owasp-agentic: [ASI05]
#     if: [effect(environment)]
package gate.environment.inject

import data.gate.lib

# METADATA
# description: code that other programs would run
deny contains {
	"reason": sprintf("sets %s, which makes other programs run code (%s); run that code as a separate command", [
		lib.text(effect, "variable", "a variable"), lib.text(effect, "runs", "unknown"),
	]),
	"help": "Harmless programs would load or start the code that the variable names.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("environment")
	not lib.is(effect, "runs", false)
	not milder(effect)
}

# METADATA
# description: other ways and places
ask contains {
	"reason": sprintf("sets %s, which changes where programs get code or data (%s); leave it as it is", [
		lib.text(effect, "variable", "a variable"), lib.text(effect, "runs", "registry or repository"),
	]),
	"help": "Check that the value is your own.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("environment")
	milder(effect)
	not own(effect)
	not ours(effect)
}

# The company's registry, as gate.remote_code.run knows it.
ours(effect) if {
	regex.match(`(?i)registry|index_?-?url|default_index|goproxy`, lib.text(effect, "variable", ""))
	addresses := [a | some a in regex.split(`[,| ]+`, lib.text(effect, "value", "")); not a in {"", "direct", "off"}]
	count(addresses) > 0
	every address in addresses {
		lib.registry_of(address, data.gate.params.gate.remote_code.run.registries)
	}
}

# Libraries of the project, as its own build leaves them.
own(effect) if {
	effect.runs == "library"
	lib.matches(effect, "value", `^(\./|[\w-]+(/|$))[\w./-]*$`)
	not contains(effect.value, "..")
}

milder(effect) if effect.runs in {"proxy", "no certificate check", "packages"}

# Settings of package managers: where packages come from.
milder(effect) if effect.runs == true

# Where libraries are looked for, not one that is loaded whatever runs.
milder(effect) if {
	effect.runs == "library"
	not effect.variable in {"LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES"}
}
