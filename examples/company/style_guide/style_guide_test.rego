package company.style_guide_test

import data.company.style_guide

test_tells if {
	every call, word in {
		"echo x > main.go": "Errors are wrapped",
		"touch db/1_shop.sql": "A migration has a way back",
	} {
		some verdict in style_guide.context with input as gate.event(call)
		contains(verdict.text, word)
	}
	count(style_guide.context) == 1 with input as gate.event({"tool": "Write", "input": {"file_path": "/home/dev/project/a.go", "content": "x"}})
}

test_tells_once_a_prompt if {
	call := {"bash": "echo x > main.go"}
	told := {"session": {"round": {"told": {"company.style_guide": 12}}}}
	other := {"session": {"round": {"told": {"company.licence_header": 12}}}}
	count(style_guide.context) == 0 with input as gate.event(object.union(call, told))
	count(style_guide.context) == 1 with input as gate.event(object.union(call, other))
}

test_passes if {
	every call in ["cat main.go", "echo x > notes.md", `echo x > "$F"`, "git commit -m main.go"] {
		count(style_guide.context) == 0 with input as gate.event(call)
	}
}

test_rules_are_a_parameter if {
	some verdict in style_guide.context with input as gate.event("echo x > a.ts")
		with data.gate.params.company.style_guide.rules as {".ts": "No any."}
	verdict.text == "Our style guide for .ts files: No any."
}
