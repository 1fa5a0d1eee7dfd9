package company.mcp_servers_test

import data.company.mcp_servers

test_denies if {
	every tool in ["mcp__evil__read", "mcp__githubx__list_issues", "mcp__GitHub__list_issues", "mcp____x", "mcp__x"] {
		count(mcp_servers.deny) == 1 with input as gate.event({"tool": tool})
	}
}

test_passes if {
	every tool in ["mcp__github__list_issues", "mcp__jira__create_issue", "Bash", "Read"] {
		count(mcp_servers.deny) == 0 with input as gate.event({"tool": tool, "input": {"command": "mcp__evil__read"}})
	}
}

test_servers_are_a_parameter if {
	count(mcp_servers.deny) == 0 with input as gate.event({"tool": "mcp__own__x"})
		with data.gate.params.company.mcp_servers.servers as ["own"]
}
