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
		`echo x > "$ROOT/etc/passwd"`,
		`echo x > "$ROOT/dev/sda"`,
		`cp a "$OUT/"`,
		"sed -i s/a/b/ ~/.netrc",
		"truncate -s0 ~/.netrc",
		"mv x ~/.netrc",
	] {
		count(overwrite.deny) > 0 with input as gate.event(call)
		count(overwrite.ask) == 0 with input as gate.event(call)
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
		"mkdir -p /etc/app",
		"cp a.txt /",
		": > /data/x",
		": > ~",
		"true > ~/notes.txt",
		"cp /dev/zero ~/notes.txt",
		"cp /dev/random ~/notes.txt",
		"cat /dev/urandom > ~/notes.txt",
		"sed -i s/a/b/ .git/HEAD",
		"truncate -s0 .git/index",
		"sed -i s/a/b/ ~/Documents/a.txt",
		"cp kubeconfig ~/.kube/config",
		{"tool": "Write", "input": {"file_path": "/home/dev/Documents/a.txt", "content": "x"}},
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
		"echo x >> ~/.netrc",
		"touch ~/.ssh/id_new",
		"cp hosts ~/.ssh/known_hosts",
		"cp hosts ~/.ssh/known_hosts.old",
		"echo x > .git/info/exclude",
		"cp x .git/description",
		"echo x > .git/COMMIT_EDITMSG",
		"mkdir .git/x",
		"cat /dev/null; echo x > ~/notes.txt",
		": >> ~/notes.txt",
		"cat /dev/null >> ~/notes.txt",
		"touch ~/Documents/a.txt",
		`echo x > "$OUT/a.txt"`,
	] {
		count(overwrite.deny) == 0 with input as gate.event(call)
		count(overwrite.ask) == 0 with input as gate.event(call)
	}
}

# Another policy watches what these make programs do.
test_leaves_configuration_to_others if {
	every line in [
		"cp x ~/.ssh/config", "cp x ~/.ssh/authorized_keys", "cp x ~/.ssh/rc", "cp x .git/config",
	] {
		count(overwrite.deny | overwrite.ask) == 0 with input as gate.event(line)
	}
}

test_denies_to_write_over_keys if {
	every name in [
		".ssh/id_rsa", ".gnupg/secring.gpg", ".password-store/a.gpg", ".aws/credentials", ".netrc", ".git-credentials",
	] {
		some denial in overwrite.deny with input as gate.event(sprintf("cp x ~/%s", [name]))
		startswith(denial.reason, sprintf("writes over ~/%s, which holds keys;", [name]))
	}
}

test_denies_to_unpack_among_keys if {
	every call in [
		"tar -xf a.tar -C ~/.ssh", "unzip a.zip -d ~/.ssh/", "7z x a.7z -o$HOME/.gnupg", "cpio -id -D ~/.ssh < a.cpio",
		"git clone https://example.org/k ~/.ssh/k", "cd ~ && tar -xf a.tar -C .ssh",
	] {
		some denial in overwrite.deny with input as gate.event(call)
		contains(denial.reason, "which holds keys;")
	}
}

test_lets_unpack_elsewhere if {
	every call in [
		"tar -xf a.tar -C sub", "tar -xf a.tar -C ../project/sub", "unzip a.zip -d ~/.local/share/x", "7z x a.7z -oout", "cpio -id -D out < a.cpio",
		"git clone https://example.org/k ~/src/k", "mkdir -p ~/.ssh", "tar -cf keys.tar -C ~/.ssh known_hosts",
	] {
		count(overwrite.deny | overwrite.ask) == 0 with input as gate.event(call)
	}
}

test_asks_before_writing_over_what_people_keep if {
	every dir in ["Desktop", "Documents", "Music", "Pictures", "Videos"] {
		count(overwrite.ask) == 1 with input as gate.event(sprintf("cp x ~/%s/a", [dir]))
		some question in overwrite.ask with input as gate.event(sprintf(": > ~/%s/a", [dir]))
		startswith(question.reason, "writes nothing into")
	}
}

test_passes_a_project_below_documents if {
	path := "/home/dev/Documents/thesis/a.tex"
	call := json.patch(gate.event({"tool": "Write", "input": {"file_path": path, "content": "x"}}), [{
		"op": "replace", "path": "/facts/effects/0/area", "value": "project",
	}])
	count(overwrite.ask) == 0 with input as call
}

test_asks_before_everything_goes_over_the_home_directory if {
	every call in ["cp -r x/. ~", "cp -rT x ~", "rsync -a x/ ~/", "tar -xf a.tar -C ~", "unzip a.zip -d $HOME"] {
		some question in overwrite.ask with input as gate.event(call)
		question.reason == "writes a whole copy or archive over ~, including start-up files; write inside the project, or let the person decide"
	}
	every call in ["cp -r x ~", "cp x ~", "rsync -a x ~/", "tar -xf a.tar -C ~/x", "git clone https://example.org/x ~", "cp -r x/. .", "tar -xf a.tar -C .."] {
		count(overwrite.deny | overwrite.ask) == 0 with input as gate.event(call)
	}
}
