package gate.process.kill_test

import data.gate.process.kill

test_denies if {
	every call in [
		"kill -9 -1",
		"killall5 -9",
		":(){ :|:& };:",
		"kill 1",
		"pkill -u dev",
		"killall systemd",
		"pkill -9 sshd",
		"sudo kill -9 1",
		"kill -KILL -- -1",
		"pkill -f .",
		"killall -u dev",
		"pkill claude",
		"b() { b | b & }; b",
		"skill -KILL -u dev",
		"kill -s KILL -1",
		"python3 -c 'import os; os.kill(1, 9)'",
	] {
		count(kill.deny) > 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		"kill 12345",
		"kill %1",
		"pkill -f 'npm run dev'",
		"killall node",
		"kill $(lsof -ti:3000)",
		"kill -0 123",
		"kill -l",
		"pgrep node",
		"ps aux",
		"kill $!",
		"pkill -f webpack",
		"top -b -n1 | head",
		"wait",
		"jobs",
		`kill "$PID"`,
		"timeout 5 make",
		"fuser -k 3000/tcp",
	] {
		count(kill.deny) == 0 with input as gate.event(call)
	}
}

test_denies_what_the_machine_or_the_agent_needs if {
	every name in [
		"init", "systemd", "launchd", "sshd", "dbus-daemon", "Xorg", "gnome-shell", "dockerd", "containerd", "WindowServer",
		"loginwindow", "systemd-logind", "NetworkManager", "rsyslogd", "auditd", "gate", "gate-hook", "claude", "codex",
	] {
		some denial in kill.deny with input as gate.event(sprintf("pkill %s", [name]))
		startswith(denial.reason, sprintf("ends %s, which", [name]))
	}
}

test_reason_says_what_ends if {
	every line, what in {
		":(){ :|:& };:": "starts processes without end",
		"kill -9 -1": "ends every process of the machine or the account",
	} {
		some denial in kill.deny with input as gate.event(line)
		startswith(denial.reason, what)
	}
}
