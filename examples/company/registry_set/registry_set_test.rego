package company.registry_set_test

import data.company.registry_set

test_rewrites if {
	every line, options in {
		"npm install left-pad": {"registry": "https://npm.packages.acme.example/"},
		"cd web && sudo npm ci": {"registry": "https://npm.packages.acme.example/"},
		"pnpm add --registry https://registry.evil.example x": {"registry": "https://npm.packages.acme.example/"},
		"pip install --extra-index-url https://evil.example requests": {
			"index-url": "https://packages.acme.example/simple",
			"extra-index-url": null,
		},
	} {
		some change in registry_set.modify with input as gate.event(line)
		change.edits[0].options == options
		count(registry_set.deny) == 0 with input as gate.event(line)
	}
}

test_sends_back_inner_texts if {
	every line in ["sh -c 'npm install left-pad'", `eval "pip install requests"`] {
		count(registry_set.deny) == 1 with input as gate.event(line)
		count(registry_set.modify) == 0 with input as gate.event(line)
	}
}

test_leaves_alone if {
	every line in ["npm run build", "npm install ./local", "pip install git+https://github.com/x/y", "echo npm install x", "cargo add x"] {
		count(registry_set.modify) == 0 with input as gate.event(line)
		count(registry_set.deny) == 0 with input as gate.event(line)
	}
}

test_addresses_are_a_parameter if {
	some change in registry_set.modify with input as gate.event("npm ci")
		with data.gate.params.company.registry_set.addresses as {"npm": "https://r.example/", "pip": "https://r.example/simple"}
	change.edits[0].options == {"registry": "https://r.example/"}
}
