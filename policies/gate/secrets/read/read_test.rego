package gate.secrets.read_test

import data.gate.secrets.read

test_denies if {
	every call in [
		"cat ~/.ssh/id_rsa",
		"cat /home/dev/.aws/credentials",
		"diff /dev/null ~/.ssh/id_rsa",
		"head -1 ~/.netrc",
		"cp ~/.ssh/id_ed25519 ./key",
		"base64 ~/.ssh/id_rsa",
		"cat /etc/shadow",
		"cat $HOME/.ssh/id_rsa",
		"cd ~/.ssh && cat id_rsa",
		"cat ~/.kube/config",
		"cat ~/.git-credentials",
		"cat ~/.docker/config.json",
		"tar cz ~/.ssh",
		"grep -r . ~/.aws/credentials",
		"cat < ~/.ssh/id_rsa",
		"while read l; do echo $l; done < ~/.ssh/id_rsa",
		"strings ~/.gnupg/secring.gpg",
		"cat ~/.ssh/id_*",
		`python3 -c 'print(open("/home/dev/.ssh/id_rsa").read())'`,
		{"tool": "Read", "input": {"file_path": "/home/dev/.kube/config"}},
		{"tool": "Read", "input": {"file_path": "/home/dev/.ssh/id_rsa"}},
		{"bash": "cat project/../../dev/.ssh/id_rsa", "cwd": "/home/dev"},
		"openssl rsa -in ~/.ssh/id_rsa",
		"gpg --export-secret-keys",
		"cryptsetup luksDump --dump-master-key disk.img",
	] {
		count(read.deny) > 0 with input as gate.event(call)
		count(read.ask) == 0 with input as gate.event(call)
	}
}

test_asks if {
	every call in [
		"vault kv get secret/prod",
		"pass show email",
		"gh auth token",
		"kubectl get secret x -o yaml",
		"cat .env",
		"sed -n p ./.env",
		"env",
		"printenv",
		"grep KEY .env",
		"cat .env.production",
		"cat config/secrets.yml",
		"export -p",
		"cat ~/.npmrc",
		"cat ~/.bash_history",
		"cat /proc/self/environ",
		{"tool": "Read", "input": {"file_path": "/home/dev/project/.env"}},
		{"tool": "Grep", "input": {"pattern": ".*", "path": "/home/dev/project", "glob": ".env*", "output_mode": "content"}},
		"git show HEAD:.env",
		"git show -s HEAD~1:.env",
		"git show --stat HEAD:.env",
		"tail .env.local",
		"kubectl get secret x -o yaml --kubeconfig ~/.kube/config",
		"docker run --env-file .env x env",
		"env cat .env",
	] {
		count(read.ask) == 1 with input as gate.event(call)
		count(read.deny) == 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		"ls -la .env",
		"cat .env.example",
		"cat src/env.ts",
		"cat token_test.go",
		"ssh -i ~/.ssh/id_rsa host uptime",
		"cat ~/.ssh/id_rsa.pub",
		"cat ~/.ssh/config",
		"ls ~/.ssh",
		"echo $HOME",
		"printenv PATH",
		"env | grep -c NODE",
		"env FOO=1 make",
		"docker compose --env-file .env up -d",
		"openssl version",
		"ssh-keygen -t ed25519 -f /tmp/k",
		"git log --all -G'id_rsa'",
		"grep -rn 'id_rsa' docs",
		"test -f ~/.ssh/id_rsa",
		"stat .env",
		"cat environment.yml",
		{"tool": "Read", "input": {"file_path": "/home/dev/project/README.md"}},
		{"tool": "Grep", "input": {"pattern": "TODO", "path": "/home/dev/project"}},
		"kubectl get secrets -n dev",
		"cat /etc/passwd",
		"source .env && make",
		"cp .env.example .env",
		"echo KEY=1 >> .env",
	] {
		count(read.deny) == 0 with input as gate.event(call)
		count(read.ask) == 0 with input as gate.event(call)
	}
}

test_asks_about_each_command if {
	count(read.ask) == 2 with input as gate.event("cat .env; env")
}

test_reason_names_what_is_shown if {
	every line, what in {
		"cat .env": "may show secrets of .env (environment file);",
		"cat $X/.env": "may show secrets of …/.env (environment file);",
		"vault kv get secret/prod": "may show secrets of the password store;",
	} {
		some question in read.ask with input as gate.event(line)
		startswith(question.reason, what)
	}
}
