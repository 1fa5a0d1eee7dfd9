package company.redact_emails_test

import data.company.redact_emails

returned(tool, response) := gate.event({
	"event": "PostToolUse", "tool": tool, "input": {"command": "cat x"}, "fields": {"tool_response": response},
})

test_takes_addresses_out if {
	every tool, pair in {
		"Bash": [
			{"stdout": "from ana@example.com\nto bob@x.org", "stderr": "", "interrupted": false},
			{"stdout": "from [e-mail]\nto [e-mail]", "stderr": "", "interrupted": false},
		],
		"Read": [
			{"type": "text", "file": {"filePath": "/x", "content": "ana@example.com", "numLines": 1}},
			{"type": "text", "file": {"filePath": "/x", "content": "[e-mail]", "numLines": 1}},
		],
		"mcp__crm__list": [
			[{"type": "text", "text": "ana@example.com"}, {"type": "text", "text": "none"}],
			[{"type": "text", "text": "[e-mail]"}, {"type": "text", "text": "none"}],
		],
		"mcp__crm__text": ["write to ana@example.com.", "write to [e-mail]."],
	} {
		some change in redact_emails.modify with input as returned(tool, pair[0])
		change.input == pair[1]
	}
}

test_leaves_the_rest if {
	every response in [
		{"stdout": "nothing here @ all, a@b", "stderr": ""},
		{"stdout": "team@acme.example", "stderr": ""},
		{"stdout": "[e-mail]", "stderr": ""},
		{"stdout": null, "count": 3},
		"",
	] {
		count(redact_emails.modify) == 0 with input as returned("Bash", response)
	}
}
