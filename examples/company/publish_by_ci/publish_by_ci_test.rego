package company.publish_by_ci_test

import data.company.publish_by_ci

on(labels, line) := gate.event({"bash": line, "gate": {"labels": labels}})

test_denies if {
	every line in ["npm publish", "twine upload dist/*", "cargo publish", "docker push registry.acme.example/x", "cd x && npm publish"] {
		count(publish_by_ci.deny) == 1 with input as on({}, line)
		count(publish_by_ci.deny) == 1 with input as on({"role": "laptop"}, line)
	}
}

test_passes if {
	count(publish_by_ci.deny) == 0 with input as on({"role": "ci"}, "npm publish")
	every line in ["npm pack", "cargo build", "docker build .", "npm publish --dry-run", "echo npm publish"] {
		count(publish_by_ci.deny) == 0 with input as on({}, line)
	}
}
