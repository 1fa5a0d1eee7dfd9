package company.allow_tests_test

import data.company.allow_tests

test_allows if {
	every line in [
		"go test ./...",
		"go vet ./... && go test -race -run=TestX ./cart/items",
		"npm test",
		"make test",
		"git status; git diff",
		"pytest -q ./tests/test_cart.py",
	] {
		count(allow_tests.allow) == 1 with input as gate.event(line)
	}
}

test_says_nothing if {
	every line in [
		"go run .",
		"go test ./... && rm -rf build",
		"go test ./... > out.txt",
		"make testing",
		"make deploy",
		"GOFLAGS=-toolexec=./x go test ./...",
		"sudo make test",
		"cd /tmp/other && make test",
		"./pytest",
		"go test -exec ./x ./...",
		"go test -C /srv/other ./...",
		"go test ./../other",
		"go test /srv/other",
		"make test deploy",
		"make test -f /tmp/Makefile",
		"make test CC=./x",
		"npm test --script-shell=./x",
		"pytest -p plugin",
		"git diff --ext-diff",
		"go test ./... $MORE",
		"$RUN",
		"",
	] {
		count(allow_tests.allow) == 0 with input as gate.event(line)
	}
}

test_stays_in_the_project if {
	count(allow_tests.allow) == 0 with input as gate.event("cd /tmp/other && make test")
		with data.gate.params.company.allow_tests.commands as ["cd", "make test"]
		with data.gate.params.company.allow_tests.rest as "^(web|/tmp/other)$"
	count(allow_tests.allow) == 1 with input as gate.event("cd web && make test")
		with data.gate.params.company.allow_tests.commands as ["cd", "make test"]
		with data.gate.params.company.allow_tests.rest as "^(web|/tmp/other)$"
}

test_commands_are_a_parameter if {
	count(allow_tests.allow) == 1 with input as gate.event("just check")
		with data.gate.params.company.allow_tests.commands as ["just check"]
}
