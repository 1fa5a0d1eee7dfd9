package gate.self_protection.change_test

import data.gate.self_protection.change

test_denies if {
	every call in [
		"rm -rf .gate",
		"truncate -s0 .gate/policy.rego",
		`cd "$WHERE" && truncate -s0 .gate/policy.rego`,
		"jq 'del(.hooks)' ~/.claude/settings.json | sponge ~/.claude/settings.json",
		"sed -i s/a/b/ .claude/settings.json",
		"echo '{}' > .claude/settings.local.json",
		"rm -rf ~/.claude",
		"mv .claude .claude.bak",
		"gate uninstall",
		"gate trust .",
		"gate approve abc123",
		"gate except abc123 --until 30d --reason wanted",
		"gate log review abc123 --false-alarm",
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
		"rm /usr/local/bin/gate-server",
		"rm /usr/local/bin/gate-run",
		"cp x ~/.local/share/gate/programs/gate-hook",
		"rm -rf ~/.local/share/gate",
		"ln -sf /bin/true ~/.local/share/gate/programs/gate-hook",
		{"tool": "Write", "input": {"file_path": "/home/dev/.local/share/gate/programs/gate", "content": "x"}},
		"gate uninstall --all",
		`pkill -f "gate serve"`,
		"pkill -f gate-hook",
		"pkill -9 -x gate",
		"pkill -f /usr/local/bin/gate",
		"pkill -f 'gate.*--port'",
		"pkill -f '[g]ate mcp'",
		"killall gate",
		"killall -9 node gate-hook",
		"sudo killall gate",
		"taskkill /F /IM gate.exe",
		"fuser -k 4283/tcp",
		"fuser -k -n tcp 4283",
		"fuser -k ~/.local/state/gate/serve/gate.sock",
		"npx kill-port 4283",
		"kill $(lsof -ti:4283)",
		"lsof -ti tcp:4283 | xargs kill -9",
		"kill $(pgrep -f 'gate serve')",
		"pgrep gate-hook | xargs kill",
		"kill $(pidof gate-server)",
		"kill $(pidof gate)",
		"fuser 4283/tcp | xargs kill",
		"systemctl --user stop gate-serve",
		"systemctl --user stop 'gate*'",
		"systemctl --user disable --now gate-serve.service",
		"sudo systemctl mask gate-sync.timer",
		"systemctl stop nginx gate",
		"service gate stop",
		"launchctl bootout gui/501/gate.serve",
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
		"gate log --reviewed false_alarm",
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
		`pkill -f "vite serve"`,
		"pkill -f api-gateway",
		"pkill -f 'logic gate simulator'",
		`pkill "$NAME"`,
		"killall node",
		"killall -l gate",
		"pgrep -fl gate",
		"fuser -k 3000/tcp",
		"fuser 4283/tcp",
		"lsof -i:4283",
		"lsof -i:4283; kill 4711",
		"npx kill-port 3000",
		"kill $(lsof -ti:3000)",
		"kill $(pgrep -f 'vite serve')",
		"kill $(pgrep gateway)",
		`systemctl --user stop "$UNIT"`,
		"systemctl --user stop gatekeeper",
		"systemctl --user status gate-serve",
		"systemctl --user restart myapp",
		"service nginx stop",
		"service gate status",
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

settings(after) := {
	"tool": "Write",
	"input": {"file_path": "/home/dev/project/.claude/settings.json", "content": after},
	"files": {"/home/dev/project/.claude/settings.json": `{"model":"opus","permissions":{"deny":["Read(./.env)"]}}`},
}

test_asks_about_settings_that_guard_nothing if {
	every after in [
		`{"model":"sonnet","permissions":{"deny":["Read(./.env)"]}}`,
		`{"model":"opus","permissions":{"allow":["Bash(go test:*)"],"deny":["Read(./.env)"]}}`,
		`{"model":"opus","permissions":{"deny":["Read(./.env)","Read(./secrets/**)"]}}`,
	] {
		count(change.ask) == 1 with input as gate.event(settings(after))
		count(change.deny) == 0 with input as gate.event(settings(after))
	}
}

test_denies_settings_that_guard if {
	every after in [
		`{"model":"opus"}`,
		`{"model":"opus","disableAllHooks":true,"permissions":{"deny":["Read(./.env)"]}}`,
		`{"model":"opus","permissions":{"allow":["Bash(*)"],"deny":["Read(./.env)"]}}`,
		`{"model":"opus","permissions":{"defaultMode":"bypassPermissions","deny":["Read(./.env)"]}}`,
	] {
		count(change.deny) == 1 with input as gate.event(settings(after))
		count(change.ask) == 0 with input as gate.event(settings(after))
	}
}
