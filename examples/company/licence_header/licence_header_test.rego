package company.licence_header_test

import data.company.licence_header

written(path, content) := gate.event({
	"event": "PostToolUse", "tool": "Write", "input": {"file_path": path, "content": content},
	"fields": {"tool_response": {"type": "create", "filePath": path}},
})

test_tells if {
	some text in licence_header.context with input as written("/home/dev/project/a.go", "package a\n")
	contains(text, "a.go has no licence header")
}

test_says_nothing if {
	every path, content in {
		"/home/dev/project/a.go": "// SPDX-License-Identifier: Apache-2.0\npackage a\n",
		"/home/dev/project/README.md": "# a\n",
		"/home/dev/project/a.json": "{}",
	} {
		count(licence_header.context) == 0 with input as written(path, content)
	}
}

test_header_is_a_parameter if {
	count(licence_header.context) == 0 with input as written("a.go", "// Copyright ACME\n")
		with data.gate.params.company.licence_header.header as "Copyright ACME"
}
