package gate.filesystem.permissions_test

import data.gate.filesystem.permissions

test_denies if {
	every call in [
		"chmod -R 777 /",
		"chmod -R 000 ~",
		"chown -R nobody /etc",
		"chmod 777 /etc/passwd",
		"chmod 644 ~/.ssh/id_rsa",
		"chmod -R 755 ~",
		"chmod a+r ~/.ssh/id_ed25519",
		"chmod 777 ~/.ssh",
		"sudo chown dev /usr/bin/sudo",
		"chmod -x /bin/ls",
		"chmod -R o+w /usr",
		"chmod 000 ~",
		"chgrp -R dev /var/lib",
		"setfacl -R -m u:x:rwx /etc",
		"chmod o+w ~",
		"chmod 666 /dev/sda",
		"chmod 000 /usr/local/bin/tool",
		"chmod u=rw,go=r ~/.ssh/id_rsa",
		"chmod o=r,u+x ~/.ssh/id_rsa",
		"chmod a+rwt ~/.ssh",
	] {
		count(permissions.deny) > 0 with input as gate.event(call)
		count(permissions.ask) == 0 with input as gate.event(call)
	}
}

test_asks if {
	every call in [
		"chmod -R 777 .",
		"chmod 755 ~",
		"chmod +x /usr/local/bin/tool",
		"chown -R dev ~/other",
		"chmod -R a+w src",
		"chmod +r /dev/sda",
		`chmod "$MODE" ~/.ssh/id_rsa`,
		"chmod -R 755 /data",
		`chmod -R 755 "$OUT"`,
	] {
		count(permissions.ask) > 0 with input as gate.event(call)
		count(permissions.deny) == 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		"chmod +x run.sh",
		"chmod 644 README.md",
		"chmod -R u+w vendor",
		"chmod 755 bin/*",
		"chown dev:dev file",
		"chmod 600 ~/.ssh/id_rsa",
		"chmod 700 ~/.ssh",
		"chmod 644 ~/.ssh/id_rsa.pub",
		"chmod 600 .env",
		"chmod 777 /tmp/x",
		"chmod -R go-w dist",
		"echo chmod -R 777 /",
		"stat -c %a file",
		"chmod --help",
		"chmod u+x scripts/*.sh",
		"chmod 644 ~/.ssh/config",
		"chmod 644 ~/.ssh/known_hosts",
		"chmod 644 ~/.aws/config",
		"chown dev ~/.ssh/id_rsa",
		"chmod -R 700 ~/.ssh",
		`chmod "$MODE" ~/notes.txt`,
		"chmod -R 777 /tmp/x",
		"chmod 777 src",
		`chmod 755 "$FILE"`,
		"chmod u+x ~/.ssh/id_rsa",
	] {
		count(permissions.deny) == 0 with input as gate.event(call)
		count(permissions.ask) == 0 with input as gate.event(call)
	}
}

test_denies_modes_that_lock_everybody_out if {
	every mode in ["0", "000", "0000", "a-rwx", "-rwx", "a=", "ugo-rwx", "ugo="] {
		count(permissions.deny) == 1 with input as gate.event(sprintf("chmod -- %s ~", [mode]))
	}
}

test_denies_to_open_keys if {
	every name in [".ssh/id_rsa", ".gnupg/secring.gpg", ".password-store/a.gpg", ".aws/credentials", ".kube/config"] {
		some denial in permissions.deny with input as gate.event(sprintf("chmod 644 ~/%s", [name]))
		contains(denial.reason, sprintf("~/%s, which holds keys, for others;", [name]))
	}
}

test_reason_says_what_is_opened if {
	every line, what in {
		"chmod 777 ~/x": "of ~/x so that every account can write it;",
		"chmod 777 /data/x": "of /data/x so that every account can write it;",
		"chmod 777 .": "of ~/project so that every account can write it;",
		"chmod 777 .git": "of .git so that every account can write it;",
		"chmod -R 777 .git": "of everything below .git so that every account can write it;",
		"chmod -R 777 .": "of everything below ~/project so that every account can write it;",
		"chmod -R 777 src": "of everything below src so that every account can write it;",
		"chmod -R 777 ~/x": "of everything below ~/x, outside the project;",
		"chmod +r /dev/sda": "of /dev/sda, outside the project;",
		"chmod 755 ~": "of ~, outside the project;",
	} {
		some question in permissions.ask with input as gate.event(line)
		contains(question.reason, what)
	}
}
