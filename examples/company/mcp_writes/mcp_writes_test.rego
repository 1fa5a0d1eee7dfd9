package company.mcp_writes_test

import data.company.mcp_writes

test_asks if {
	every tool in ["mcp__slack__post_message", "mcp__jira__delete_issue", "mcp__github__create_issue", "mcp__x__sendMail"] {
		count(mcp_writes.ask) == 1 with input as gate.event({"tool": tool, "input": {"text": "x"}})
	}
}

test_passes if {
	every call in [
		{"tool": "mcp__jira__get_issue", "input": {"id": "delete"}},
		{"tool": "mcp__github__search_code", "input": {"query": "create"}},
		{"tool": "mcp__jira__add_comment", "input": {"text": "x"}},
		{"tool": "Write", "input": {"file_path": "a", "content": "x"}},
	] {
		count(mcp_writes.ask) == 0 with input as gate.event(call)
	}
}

test_free_tools_are_a_parameter if {
	count(mcp_writes.ask) == 1 with input as gate.event({"tool": "mcp__jira__add_comment"})
		with data.gate.params.company.mcp_writes.free as []
}
