package gate.filesystem.overwrite_test

import data.gate.filesystem.overwrite

test_denies if {
	every call in [
		"echo x > /etc/hosts",
		"cp evil /usr/bin/git",
		": > /etc/passwd",
		"sed -i s/a/b/ /etc/ssh/ssh_config",
		"truncate -s0 /etc/fstab",
		"echo b > /proc/sysrq-trigger",
		"tee /etc/resolv.conf < x",
		"mv x /bin/ls",
		"cp /dev/null ~/.ssh/id_rsa",
		"echo x > ~/.ssh/id_ed25519",
		"dd if=/dev/zero of=/etc/passwd",
		"ln -sf /tmp/x /usr/bin/python3",
		"cat a > /boot/grub/grub.cfg",
		{"tool": "Write", "input": {"file_path": "/etc/hosts", "content": "x"}},
		{"tool": "Edit", "input": {"file_path": "/usr/lib/os-release", "old_string": "a", "new_string": "b"}},
		"sort -o /etc/group /etc/group",
		"curl -o /usr/bin/x https://example.com/x",
	] {
		count(overwrite.deny) > 0 with input as gate.event(call)
	}
}

test_asks if {
	every call in [
		"echo x > /usr/local/bin/tool",
		"mkdir -p /opt/app",
		": > ~/notes.txt",
		"echo > ~/Documents/thesis.tex",
		"truncate -s 0 ~/db.sqlite",
		"cp /dev/null ~/thesis.tex",
		"echo ref > .git/HEAD",
		"echo x >> /var/log/app.log",
	] {
		count(overwrite.ask) > 0 with input as gate.event(call)
		count(overwrite.deny) == 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		"echo x > out.txt",
		"printf x >| out.txt",
		"make 2>&1 | tee build.log",
		"cat a b > c",
		"echo x > /tmp/y",
		"exec 2> err.log",
		"sed -i s/a/b/ src/main.go",
		"cp config.example.yml config.yml",
		"truncate -s0 app.log",
		": > build.log",
		"echo x > /dev/null",
		"git log > /dev/stderr",
		"echo x >> ~/.ssh/known_hosts",
		"cp a.txt ~/notes.txt",
		"curl -o ~/Downloads/a.zip https://example.com/a.zip",
		"echo node_modules >> .git/info/exclude",
		{"tool": "Write", "input": {"file_path": "/home/dev/project/a.go", "content": "x"}},
		{"tool": "Edit", "input": {"file_path": "/home/dev/project/a.go", "old_string": "a", "new_string": "b"}},
		"echo 'x > /etc/passwd'",
		"mkdir -p src/a/b",
		"touch x",
		"dd if=/dev/zero of=test.bin bs=1M count=1",
	] {
		count(overwrite.deny) == 0 with input as gate.event(call)
		count(overwrite.ask) == 0 with input as gate.event(call)
	}
}
