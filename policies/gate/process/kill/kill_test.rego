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
