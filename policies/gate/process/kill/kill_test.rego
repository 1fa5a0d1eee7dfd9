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
		"loginwindow", "systemd-logind", "NetworkManager", "rsyslogd", "auditd", "gate", "gate-hook", "gate-run", "gate-server", "claude", "codex",
	] {
		some denial in kill.deny with input as gate.event(sprintf("pkill %s", [name]))
		startswith(denial.reason, sprintf("ends %s, which", [name]))
	}
}

test_reason_says_what_ends if {
	every line, what in {
		":(){ :|:& };:": "starts an endless number of processes",
		"kill -9 -1": "ends every process of the machine or the account",
	} {
		some denial in kill.deny with input as gate.event(line)
		startswith(denial.reason, what)
	}
}

# Whatever ps lists is ended: everybody's processes, or all of one's own.
test_denies_all_that_ps_lists if {
	every line in [
		"ps aux | xargs kill",
		"ps -ef | awk '{print $2}' | xargs kill -9",
		"kill -9 $(ps -A -o pid)",
		"kill $(ps ax -o pid)",
		"ps -e | cat | xargs kill",
		"ps aux | gawk '{print $2}' | xargs kill",
	] {
		some denial in kill.deny with input as gate.event(line)
		startswith(denial.reason, "ends every process that ps lists")
	}
}

test_passes_what_is_picked_from_the_list if {
	every program in ["grep", "egrep", "fgrep", "rg", "ag", "sed", "perl", "python3", "fzf"] {
		line := sprintf("ps aux | %s vite | xargs kill", [program])
		count(kill.deny) == 0 with input as gate.event(line)
	}
	every awk in ["awk", "gawk", "mawk"] {
		line := sprintf("ps aux | %s '/vite/ {print $2}' | xargs kill", [awk])
		count(kill.deny) == 0 with input as gate.event(line)
	}
	every line in [
		"ps aux | pgrep vite | xargs kill",
		"ps | awk '{print $1}' | xargs kill",
		"ps -o pid | xargs kill",
		"ps -e -C node -o pid= | xargs kill",
		"ps -e --ppid 4711 -o pid= | xargs kill",
		"ps ax --sid=4711 -o pid= | xargs kill",
		"ps aux | awk '$3 > 90 {print $2}' | xargs kill",
		"ps aux | awk 'NR == 2 {print $2}' | xargs kill",
	] {
		count(kill.deny) == 0 with input as gate.event(line)
	}
}

test_passes_lists_beside_a_known_number if {
	count(kill.deny) == 0 with input as gate.event("ps aux; kill 4711")
}

# One denial is enough for what is refused anyway.
test_denies_once if {
	count(kill.deny) == 1 with input as gate.event(`ps aux; pkill -u "$NAME"`)
}

test_asks_about_what_computes if {
	every call in [
		"nvidia-smi --query-compute-apps=pid --format=csv,noheader | xargs -r kill -9",
		"kill $(rocm-smi --showpids)",
	] {
		count(kill.ask) > 0 with input as gate.event(call)
	}
	every call in [
		"nvidia-smi --query-compute-apps=pid,name --format=csv",
		"nvidia-smi --query-compute-apps=pid,name --format=csv | grep mine | cut -d, -f1 | xargs kill",
	] {
		count(kill.ask) == 0 with input as gate.event(call)
	}
}
