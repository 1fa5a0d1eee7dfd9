package company.allow_tests_test

import data.company.allow_tests

test_allows if {
	every line in [
		"go test ./...",
		"go vet ./... && go test -run TestX ./cart",
		"npm test -- --watch=false",
		"make test",
		"git status; git diff",
		"pytest -q tests",
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
		"$RUN",
		"",
	] {
		count(allow_tests.allow) == 0 with input as gate.event(line)
	}
}

test_stays_in_the_project if {
	count(allow_tests.allow) == 0 with input as gate.event("cd /tmp/other && make test")
		with data.gate.params.company.allow_tests.commands as ["cd", "make test"]
	count(allow_tests.allow) == 1 with input as gate.event("cd web && make test")
		with data.gate.params.company.allow_tests.commands as ["cd", "make test"]
}

test_commands_are_a_parameter if {
	count(allow_tests.allow) == 1 with input as gate.event("just check")
		with data.gate.params.company.allow_tests.commands as ["just check"]
}
