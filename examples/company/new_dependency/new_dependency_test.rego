package company.new_dependency_test

import data.company.new_dependency

names(line) := {verdict.reason | some verdict in verdicts} if {
	verdicts := new_dependency.ask with input as gate.event(line)
}

test_asks if {
	every line, name in {
		"npm install left-pad": "left-pad",
		"npm install left-pad@1.3.0": "left-pad",
		"npm i @acme/thing@2": "@acme/thing",
		"pip install 'requests[socks]>=2'": "requests",
		"go get example.com/x@latest": "example.com/x",
		"cargo add serde": "serde",
		"cd web && yarn add x": "x",
		"pip install git+https://github.com/x/y": "git+https://github.com/x/y",
		`npm install "$P"`: "that is not known",
	} {
		some reason in names(line)
		startswith(reason, sprintf("adds the package %s; ", [name]))
	}
}

test_asks_once_for_each if count(names("pip install a b pytest")) == 2

test_passes if {
	every line in [
		"npm ci",
		"npm install",
		"pip install pytest==8.1",
		"npm install -D typescript@5 eslint",
		"pip install ./local",
		"pip install -r requirements.txt",
		"go mod tidy",
		"npm uninstall x",
		"npx cowsay hi",
	] {
		names(line) == set()
	}
}

test_known_packages_are_a_parameter if {
	count(new_dependency.ask) == 0 with input as gate.event("npm i left-pad")
		with data.gate.params.company.new_dependency.known as ["left-pad"]
}
