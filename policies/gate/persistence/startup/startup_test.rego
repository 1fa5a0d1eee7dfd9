package gate.persistence.startup_test

import data.gate.persistence.startup

test_denies if {
	every call in [
		"echo x >> ~/.bashrc",
		`printf '\nsource /tmp/x\n' | tee -a ~/.zshrc`,
		"sed -i d ~/.bash_profile",
		"echo '* * * * * x' | crontab -",
		"crontab -r",
		"install -m755 /tmp/x ~/.config/autostart/x.desktop",
		"cp /bin/sh /tmp/sh && chmod 4755 /tmp/sh",
		"echo key >> ~/.ssh/authorized_keys",
		"cp x.service ~/.config/systemd/user/",
		"echo x > .git/hooks/pre-commit",
		"rm ~/.bashrc",
		"tee /etc/profile.d/x.sh < x",
		"echo x > /etc/cron.d/x",
		"systemctl enable x",
		"ln -s /tmp/x ~/.zshrc",
		{"tool": "Write", "input": {"file_path": "/home/dev/.bashrc", "content": "x"}},
		{"tool": "Write", "input": {"file_path": "/home/dev/.ssh/authorized_keys", "content": "x"}},
		{"tool": "Write", "input": {"file_path": "/etc/systemd/system/x.service", "content": "x"}},
		{"tool": "Edit", "input": {"file_path": "/home/dev/.zshrc", "old_string": "a", "new_string": "b"}},
		"at now + 1 hour < x.sh",
		"launchctl load ~/Library/LaunchAgents/x.plist",
		"chmod u+s /tmp/x",
		"echo x > ~/.profile",
		"mv x ~/.bash_aliases",
		"echo '/tmp/x.so' > /etc/ld.so.preload",
		"rm /etc/cron.d/x",
		"rm ~/.config/systemd/user/x.service",
		"rm ~/.ssh/authorized_keys",
		"rm /etc/ld.so.preload",
	] {
		count(startup.deny) > 0 with input as gate.event(call)
		count(startup.ask) == 0 with input as gate.event(call)
	}
}

test_asks if {
	every call in [
		"echo x >> ~/.ssh/config",
		"echo x >> ~/.vimrc",
		"echo x >> ~/.gitconfig",
		"rm .git/hooks/pre-commit",
		{"tool": "Write", "input": {"file_path": "/home/dev/.tmux.conf", "content": "x"}},
		"rm ~/.config/autostart/x.desktop",
	] {
		count(startup.ask) > 0 with input as gate.event(call)
		count(startup.deny) == 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		"cat ~/.bashrc",
		"grep alias ~/.zshrc",
		"crontab -l",
		"echo x > .bashrc",
		"source ~/.bashrc",
		"ls .git/hooks",
		"cp hooks/pre-commit.sample x",
		"systemctl status nginx",
		"echo x > src/hooks/pre-commit.ts",
		{"tool": "Edit", "input": {"file_path": "/home/dev/project/src/hooks/pre-commit.ts", "old_string": "a", "new_string": "b"}},
		{"tool": "Read", "input": {"file_path": "/home/dev/.bashrc"}},
		"git commit -m 'add ~/.bashrc note'",
		"chmod 755 run.sh",
		"diff ~/.bashrc dotfiles/bashrc",
		"echo export A=1 > env.sh",
		"echo 'echo x >> ~/.bashrc'",
		"grep -rn crontab docs",
		"chmod 600 ~/.ssh/authorized_keys",
		"chmod 755 .git/hooks/pre-commit",
	] {
		count(startup.deny) == 0 with input as gate.event(call)
		count(startup.ask) == 0 with input as gate.event(call)
	}
}

test_reason_names_the_file if {
	every line, what in {
		"echo x >> ~/.bashrc": "later: ~/.bashrc (shell start-up file);",
		"crontab x": "later: cron;",
	} {
		some denial in startup.deny with input as gate.event(line)
		contains(denial.reason, what)
	}
}
