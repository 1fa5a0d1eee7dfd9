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
	] {
		count(permissions.deny) > 0 with input as gate.event(call)
	}
}

test_asks if {
	every call in [
		"chmod -R 777 .",
		"chmod 755 ~",
		"chmod +x /usr/local/bin/tool",
		"chown -R dev ~/other",
		"chmod -R a+w src",
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
	] {
		count(permissions.deny) == 0 with input as gate.event(call)
		count(permissions.ask) == 0 with input as gate.event(call)
	}
}
