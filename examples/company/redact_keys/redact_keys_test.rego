package company.redact_keys_test

import data.company.redact_keys

returned(response) := gate.event({
	"event": "PostToolUse", "tool": "Bash", "input": {"command": "cat x"}, "fields": {"tool_response": response},
})

key := concat("", ["AKIA", "ABCDEFGHIJKLMNOP"])

test_takes_keys_out if {
	every before, after in {
		sprintf("id=%s x", [key]): "id=[key] x",
		sprintf("%s %s", [key, key]): "[key] [key]",
		concat("", ["ghp_", "abcdefghijklmnopqrstuvwxyz0123456789"]): "[key]",
	} {
		some change in redact_keys.modify with input as returned({"stdout": before, "stderr": ""})
		change.input == {"stdout": after, "stderr": ""}
	}
}

test_leaves_the_rest if {
	every text in ["AKIA is a prefix", "ghp_short", "[key]", ""] {
		count(redact_keys.modify) == 0 with input as returned({"stdout": text, "stderr": ""})
	}
}

test_patterns_are_a_parameter if {
	some change in redact_keys.modify with input as returned("token ACME-1")
		with data.gate.params.company.redact_keys.patterns as [`ACME-\d`]
	change.input == "token [key]"
}
