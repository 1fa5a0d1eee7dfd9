package company.secret_shown_test

import data.company.secret_shown

returned(response) := gate.event({
	"event": "PostToolUse", "tool": "Bash", "input": {"command": "cat x"}, "fields": {"tool_response": response},
})

begin(kind) := concat("", ["-----BEGIN ", kind, "PRIVATE KEY-----\nMIIE"])

test_halts if {
	every response in [
		{"stdout": begin("RSA "), "stderr": ""},
		{"file": {"content": begin("OPENSSH ")}},
		[{"type": "text", "text": begin("")}],
		begin("EC "),
	] {
		count(secret_shown.halt) == 1 with input as returned(response)
	}
}

test_goes_on if {
	every response in [
		{"stdout": "-----BEGIN PUBLIC KEY-----\nMIIE", "stderr": ""},
		{"stdout": "-----BEGIN CERTIFICATE-----", "stderr": ""},
		"a PRIVATE KEY",
		null,
	] {
		count(secret_shown.halt) == 0 with input as returned(response)
	}
}
