package company.prompt_secrets_test

import data.company.prompt_secrets

prompt(text) := gate.event({"event": "UserPromptSubmit", "fields": {"prompt": text}})

test_denies if {
	every text in [
		concat("", ["use AKIA", "ABCDEFGHIJKLMNOP please"]),
		concat("", ["ghp_", "abcdefghijklmnopqrstuvwxyz0123456789"]),
		concat("", ["-----BEGIN RSA ", "PRIVATE KEY-----"]),
	] {
		count(prompt_secrets.deny) == 1 with input as prompt(text)
	}
}

test_passes if {
	every text in ["rotate the AKIA keys", "what is a PRIVATE KEY?", "fix the test", ""] {
		count(prompt_secrets.deny) == 0 with input as prompt(text)
	}
}

test_patterns_are_a_parameter if {
	prompt_secrets.deny == {"the prompt holds a customer number; leave it out, and replace it if it was sent before"} with input as prompt("C-1234")
		with data.gate.params.company.prompt_secrets.patterns as {"a customer number": `\bC-\d{4}\b`}
}
