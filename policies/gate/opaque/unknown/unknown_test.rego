package gate.opaque.unknown_test

import data.gate.opaque.unknown

test_denies if {
	every call in [
		"if true; then",
		"echo 'unclosed",
		"git status\u2028rm -rf x",
		"ls \u200b",
		"rm -rf x; $(",
		"echo $((",
		"cat <<<",
		"ls\rrm -rf x",
		"for",
		`echo "a`,
		"ls | | wc",
		"(ls",
		"ls )",
		"case x in",
	] {
		count(unknown.deny) > 0 with input as gate.event(call)
	}
}

test_asks if {
	every call in [
		"$CMD -rf x",
		"$(cat cmd) x",
		`eval "$X"`,
		`eval "$(ssh-agent -s)"; eval "$X"`,
		`eval "$(ssh-agent -s; cat x)"`,
		`eval "$(brew list)"`,
		"cat script | sh",
		`bash -c "$X"`,
		`python3 -c "$CODE"`,
		"tar cf x.tar --checkpoint=1 --checkpoint-action=exec='sh x.sh' .",
		"xargs sh -c < list",
		"$1 x",
		"${arr[0]} x",
		"read c; $c",
		{"tool": "mcp__r__run_code", "input": {"code": "system(1)"}},
		`sh -c "$(cat list)"`,
		`node -e "$CODE"`,
	] {
		count(unknown.ask) > 0 with input as gate.event(call)
		count(unknown.deny) == 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		"echo $X",
		`go test ./... -run "$T"`,
		"make",
		"ls -la",
		"git status",
		"rsync -e ssh a h.example:",
		"rsync -e 'ssh -p 22' a h.example:",
		`for f in *.go; do gofmt -l "$f"; done`,
		`cat "$FILE"`,
		"unknown-program --flag x",
		"python3 -c 'print(1)'",
		"sort --compress-program=gzip x",
		{"tool": "mcp__figma__get_code", "input": {"nodeId": "1:2"}},
		"echo 'Gr\u00fc\u00dfe \ud83d\udc4b'",
		"git ls-files '*.go' | xargs gofmt -l",
		"bash -lc 'nvm use 20 && npm test'",
		"find . -name '*.go' -exec grep -l x {} +",
		`printf '%s\n' "$@"`,
		"awk '{print $1}' x",
		"perl -ne 'print if /x/' a.md",
		"node -e 'console.log(1)'",
		{"tool": "Task", "input": {"description": "x", "prompt": "y"}},
		{"tool": "mcp__github__search_code", "input": {"query": "x"}},
		{"tool": "SomethingNew", "input": {"text": "hello"}},
		"bash scripts/build.sh",
		"./run.sh",
		"npm run build",
		`[ "$a" = b ] && echo x`,
		`eval "$(ssh-agent -s)"`,
		`eval "$(pyenv init -)" && python --version`,
		"eval $(minikube docker-env)",
		"source <(kubectl completion bash)",
		"cmd=ls; $cmd -la",
	] {
		count(unknown.deny) == 0 with input as gate.event(call)
		count(unknown.ask) == 0 with input as gate.event(call)
	}
}
