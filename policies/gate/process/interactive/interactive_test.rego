package gate.process.interactive_test

import data.gate.process.interactive

test_denies if {
	every line in [
		"bash",
		"bash -i",
		"bash -l",
		"exec zsh",
		"env FOO=1 sh",
		"docker exec -it c sh",
		"kubectl exec -it p -- bash",
		"python3",
		"python3 -i setup.py",
		"node",
		"node -i",
		"psql app",
		"mysql",
		"ssh build",
		"sudo -s",
		"sudo -i",
		"sudo su -",
		"su dev",
		"tmux",
		"screen",
		"script -q /dev/null",
		"cd app && bash",
	] {
		count(interactive.deny) > 0 with input as gate.event({"bash": line, "agent": "codex"})
	}
}

test_says_what_to_do_instead if {
	some one in interactive.deny with input as gate.event({"bash": "ssh build", "agent": "codex"})
	endswith(one.reason, "as ssh HOST COMMAND")
	some two in interactive.deny with input as gate.event({"bash": "psql app", "agent": "codex"})
	endswith(two.reason, "as psql -c STATEMENT")
	some three in interactive.deny with input as gate.event({"bash": "tmux", "agent": "codex"})
	endswith(three.reason, "as a separate command")
	some four in interactive.deny with input as gate.event({"bash": "bash", "agent": "codex"})
	endswith(four.reason, "as bash -c COMMAND")
}

test_passes if {
	every line in [
		"bash -c 'make test'",
		"bash -lc ls",
		"bash build.sh",
		"bash <<<ls",
		"echo ls | sh",
		"bash --version",
		"python3 -c 'print(1)'",
		"python3 -m pytest",
		"python3 manage.py migrate",
		"python3 -V",
		"cat x.py | python3",
		"node -e 'console.log(1)'",
		"node -p 1",
		"node server.js",
		"perl -e 1",
		"psql -c 'select 1'",
		"psql -f schema.sql app",
		"psql app < schema.sql",
		"mysql -e 'select 1'",
		"ssh build make",
		"ssh -N build",
		"echo ls | ssh build",
		"sudo make install",
		"sudo -s ls",
		"su -c ls dev",
		"echo ls | su dev",
		"tmux -V",
		"tmux new -d make",
		"screen -ls",
		"script -c ls /dev/null",
		"tmux $WHAT",
		"git status",
	] {
		count(interactive.deny) == 0 with input as gate.event({"bash": line, "agent": "codex"})
	}
}

# Agents that ask about each text, or cannot type at all.
test_other_agents_pass if {
	every agent in ["claude", "gemini", "generic"] {
		count(interactive.deny) == 0 with input as gate.event({"bash": "bash", "agent": agent})
	}
}

test_agents_can_be_set if {
	count(interactive.deny) > 0 with input as gate.event({"bash": "bash", "agent": "generic"})
		with data.gate.params.gate.process.interactive.agents as ["generic"]
}

test_denies_each_that_waits if {
	every line in [
		"bash", "sh", "zsh", "dash", "ksh", "fish", "python", "python3", "ipython", "node", "irb", "perl", "lua",
		"python3 -i x.py", "node --interactive", "psql", "psql -l app; psql app", "mysql", "ssh build", "su", "su dev", "sudo -s",
		"tmux", "screen", "script", "tmux new", "tmux new-session -s x", "tmux attach", "tmux attach-session", "tmux a",
	] {
		count(interactive.deny) > 0 with input as gate.event({"bash": line, "agent": "codex"})
	}
	every line in [
		"psql --list", "psql --version", "mysql --help", "su --command ls dev", "perl -v", "node --help", "node --check x.js",
		"python3 -i x.py <<< 1", "tmux ls", "tmux kill-session -t x", "screen --version", "script --help", "ruby -e 1",
	] {
		count(interactive.deny) == 0 with input as gate.event({"bash": line, "agent": "codex"})
	}
	every line, form in {
		"sudo -s": "sudo COMMAND", "node": "node -e CODE", "perl": "perl -e CODE", "lua": "lua -e CODE", "irb": "ruby -e CODE",
		"mysql": "mysql -e STATEMENT", "psql": "psql -c STATEMENT", "ssh build": "ssh HOST COMMAND", "fish": "fish -c COMMAND",
		"tmux": "a separate command", "screen": "a separate command", "script": "a separate command",
	} {
		some denial in interactive.deny with input as gate.event({"bash": line, "agent": "codex"})
		contains(denial.reason, form)
	}
}

test_asks_about_typing if {
	every line in [
		"echo y > /dev/pts/3",
		"printf 'y' >> /dev/tty1",
		"tmux send-keys -t main y Enter",
		"screen -S main -X stuff y",
		"kitty @ send-text y",
		"python3 -c \"import fcntl, termios; fcntl.ioctl(0, termios.TIOCSTI, b'y')\"",
	] {
		count(interactive.ask) == 1 with input as gate.event(line)
	}
	some one in interactive.ask with input as gate.event("echo y > /dev/pts/3")
	startswith(one.reason, "types into /dev/pts/3,")
	some two in interactive.ask with input as gate.event("python3 -c \"import fcntl, termios; fcntl.ioctl(0, termios.TIOCSTI, b'y')\"")
	startswith(two.reason, "types into another program,")
}

test_passes_lines_that_are_judged if {
	every line in [
		"echo done > /dev/tty",
		"tmux send-keys -t dev 'npm test' Enter",
		"tmux send-keys -t dev C-c",
		"tmux capture-pane -p -t dev",
		"screen -S dev -X stuff 'make test\n'",
		"kill %1",
	] {
		count(interactive.ask) == 0 with input as gate.event(line)
	}
}
