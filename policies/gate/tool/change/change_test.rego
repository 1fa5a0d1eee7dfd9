package gate.tool.change_test

import data.gate.tool.change

test_asks if {
	every call in [
		{"tool": "mcp__github__delete_repository", "input": {"owner": "a", "repo": "b"}},
		{"tool": "mcp__github__merge_pull_request", "input": {"owner": "a", "repo": "b", "pull_number": 1}},
		{"tool": "mcp__github__push_files", "input": {"owner": "a", "repo": "b", "branch": "main", "files": []}},
		{"tool": "mcp__k8s__delete_pod", "input": {"name": "x"}},
		{"tool": "mcp__db__drop_table", "input": {"table": "users"}},
		{"tool": "mcp__vercel__deploy", "input": {"project": "x"}},
		{"tool": "mcp__github__create_or_update_file", "input": {"owner": "a", "repo": "b", "branch": "main", "path": "x", "content": "y"}},
		{"tool": "mcp__jira__deleteIssue", "input": {"key": "A-1"}},
		{"tool": "mcp__aws__terminate_instances", "input": {"ids": ["i-1"]}},
		{"tool": "mcp__github__delete_branch", "input": {"branch": "x"}},
		{"tool": "mcp__npm__publish", "input": {"name": "x"}},
		{"tool": "mcp__github__delete_file", "input": {"owner": "a", "repo": "b", "branch": "feature", "path": "x"}},
	] {
		count(change.ask) > 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		{"tool": "mcp__github__search_code", "input": {"query": "git push --force"}},
		{"tool": "mcp__github__get_issue", "input": {"number": 1}},
		{"tool": "mcp__github__create_issue", "input": {"title": "x"}},
		{"tool": "mcp__github__push_files", "input": {"branch": "feature/x", "files": []}},
		{"tool": "mcp__fs__read_file", "input": {"path": "/home/dev/project/x"}},
		{"tool": "mcp__fs__delete_file", "input": {"path": "/home/dev/project/x"}},
		{"tool": "mcp__slack__post_message", "input": {"text": "delete it"}},
		{"tool": "mcp__github__list_branches", "input": {"repo": "b"}},
		{"tool": "mcp__github__add_issue_comment", "input": {"body": "x"}},
		{"tool": "mcp__memory__add", "input": {"text": "x"}},
		{"tool": "Task", "input": {"description": "x", "prompt": "delete all"}},
		"git push origin main",
		"echo x",
		{"tool": "mcp__docs__query", "input": {"text": "drop table"}},
		{"tool": "TodoWrite", "input": {"todos": []}},
	] {
		count(change.ask) == 0 with input as gate.event(call)
	}
}

test_verbs_are_a_parameter if {
	call := {"tool": "mcp__slack__post_message", "input": {"text": "x"}}
	count(change.ask) == 0 with input as gate.event(call)
	count(change.ask) > 0 with input as gate.event(call)
		with data.gate.params.gate.tool.change.verbs as ["post"]
}
