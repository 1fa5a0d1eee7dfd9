package gate.self_protection.change_test

import data.gate.self_protection.change

test_denies if {
	every call in [
		"rm -rf .gate",
		"truncate -s0 .gate/policy.rego",
		"jq 'del(.hooks)' ~/.claude/settings.json | sponge ~/.claude/settings.json",
		"sed -i s/a/b/ .claude/settings.json",
		"echo '{}' > .claude/settings.local.json",
		"rm -rf ~/.claude",
		"mv .claude .claude.bak",
		"gate uninstall",
		"gate trust .",
		"gate approve abc123",
		"gate keys sign --key alice=alice.pem",
		"gate bundle sign company.tar.gz --keys keys.json --key release=release.pem",
		"gate bundle recovery recovery.json --machine 5f2a --off company --owner a --reason b --keys keys.json --key alice=alice.pem",
		"gate bundle channel channel.json --keys keys.json --key alice=alice.pem",
		"gate set x y",
		"claude --dangerously-skip-permissions -p x",
		"codex --dangerously-bypass-approvals-and-sandbox x",
		"gemini --yolo -p x",
		"GATE_MODE=off ls",
		"cp x ~/.config/gate/policy.rego",
		{"tool": "Write", "input": {"file_path": "/home/dev/.claude/settings.json", "content": "{\"disableAllHooks\":true}"}},
		{"tool": "Edit", "input": {"file_path": "/home/dev/project/.gate/policy.rego", "old_string": "a", "new_string": "b"}},
		{"tool": "Write", "input": {"file_path": "/home/dev/project/.CLAUDE/Settings.json", "content": "{}"}},
		"ln -sf /dev/null ~/.claude/settings.json",
		`python3 -c 'open(".claude/settings.json","w").write("{}")'`,
		"chmod 000 ~/.claude/settings.json",
		"npm rm -g gate",
		"echo x > .claude/hooks/pre.sh",
		"cp x /usr/local/bin/gate",
		"rm /usr/local/bin/gate",
		"chmod -x /usr/local/bin/gate-hook",
	] {
		count(change.deny) > 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		"gate bundle build company --version 8 -o company.tar.gz",
		"gate bundle verify company.tar.gz --keys keys.json",
		"gate keys list",
		"gate bundle machine",
		"cat .claude/settings.json",
		"git diff -- .claude/settings.json",
		"git log --oneline -- .claude",
		"grep -rn 'settings.json' docs",
		"sed -i 's/a/b/' config/settings.local.json",
		"cat src/settings.json",
		"gate try 'rm -rf ~'",
		"gate explain last",
		"gate status",
		"gate facts 'ls'",
		"gate test",
		"ls .gate",
		"claude --version",
		"claude -p 'explain'",
		{"tool": "Read", "input": {"file_path": "/home/dev/project/.claude/settings.json"}},
		{"tool": "Write", "input": {"file_path": "/home/dev/project/config/settings.local.json", "content": "{}"}},
		"go test ./gate/...",
		"echo 'gate uninstall'",
		"git commit -m 'gate: trust'",
		"cp .claude/settings.json /tmp/x",
		"which gate",
		"mkdir -p .claude/commands",
		{"tool": "Write", "input": {"file_path": "/home/dev/project/.claude/commands/x.md", "content": "x"}},
	] {
		count(change.deny) == 0 with input as gate.event(call)
	}
}

test_reason_names_what_is_changed if {
	every line, what in {
		"echo > .claude/settings.json": "changes .claude/settings.json (agent settings);",
		"gate uninstall": "changes what guards the agent (gate program);",
	} {
		some denial in change.deny with input as gate.event(line)
		startswith(denial.reason, what)
	}
}
