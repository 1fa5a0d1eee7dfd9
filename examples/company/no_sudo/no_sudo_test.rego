package company.no_sudo_test

import data.company.no_sudo

test_denies if {
	every line in [
		"sudo apt install x",
		"sudo -u postgres psql",
		"env X=1 sudo ls",
		"sh -c 'sudo ls'",
		"ls | xargs sudo rm",
		"su - root -c ls",
		"doas ls",
		"pkexec ls",
		"run0 ls",
		"runuser -u x ls",
		"/usr/bin/sudo ls",
		"S=sudo; $S ls",
		"sudo -i",
	] {
		count(no_sudo.deny) > 0 with input as gate.event(line)
	}
}

test_passes if {
	every line in ["ls", "echo sudo ls", "cat sudoers", "git commit -m 'sudo'", "which sudo", "make sudo"] {
		count(no_sudo.deny) == 0 with input as gate.event(line)
	}
}
