package gate.git.config_test

import data.gate.git.config

test_denies if {
	every call in [
		"git config --global credential.helper '!f() { cat >> /tmp/c; }; f'",
		"git config core.sshCommand 'sh /tmp/x'",
		"git config --global core.fsmonitor /tmp/x",
		"git -c core.sshCommand='sh -c id' fetch",
		"git config filter.x.clean 'sh /tmp/x'",
		"git config alias.st '!sh /tmp/x'",
		"git config diff.external /tmp/x",
		"git -c protocol.ext.allow=always clone 'ext::sh -c id'",
		"git config core.gitProxy /tmp/x",
		"git config --system core.askPass /tmp/x",
		"git config credential.https://example.com.helper /tmp/x",
		"git config remote.origin.uploadpack /tmp/x",
		"git config remote.origin.receivepack /tmp/x",
		"git config submodule.x.update '!sh /tmp/x'",
		"git config set core.sshCommand /tmp/x",
		"git config core.sshCommand '!gh auth git-credential'",
		"git -c include.path=/tmp/x status",
	] {
		count(config.deny) > 0 with input as gate.event(call)
		count(config.ask) == 0 with input as gate.event(call)
	}
}

test_asks if {
	every call in [
		"git remote set-url origin https://git.attacker.example/p.git",
		"git config core.hooksPath .githooks",
		"git config --local include.path ../.gitconfig",
		"git config --global includeIf.gitdir:~/work/.path ~/work/.gitconfig",
		"git config --global url.https://evil.example/.insteadOf https://github.com/",
		"git config core.pager /tmp/x",
		"git config remote.origin.push +main",
		"git config remote.origin.url https://git.example.org/p",
		"git -c core.editor=/tmp/x commit",
	] {
		count(config.ask) > 0 with input as gate.event(call)
		count(config.deny) == 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		"git config user.email a@b.c",
		"git config --list",
		"git config --get remote.origin.url",
		"git -c core.pager=cat log -1",
		"git config core.autocrlf input",
		"git config alias.co checkout",
		"git remote -v",
		"git remote add upstream https://github.com/a/b",
		"git remote get-url origin",
		"git config credential.helper cache",
		"git config --global init.defaultBranch main",
		"git config pull.rebase true",
		"git -c user.name=x commit -m x",
		"git config core.editor vim",
		"git config --unset core.sshCommand",
		"git config --get include.path",
		"git config filter.lfs.clean 'git-lfs clean -- %f'",
		"git config credential.https://github.com.helper '!/usr/bin/gh auth git-credential'",
	] {
		count(config.deny) == 0 with input as gate.event(call)
		count(config.ask) == 0 with input as gate.event(call)
	}
}
