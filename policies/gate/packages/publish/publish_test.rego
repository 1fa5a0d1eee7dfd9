package gate.packages.publish_test

import data.gate.packages.publish

test_asks if {
	every call in [
		"docker push acme/api",
		"gh release create v1",
	] {
		count(publish.ask) > 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		"npm publish --dry-run",
		"npm pack",
		"npm install",
		"yarn install --frozen-lockfile",
		"cargo build",
		"cargo publish --dry-run",
		"poetry install",
		"poetry build",
		"gh release list",
		"docker build .",
		"npm run publish:check",
		"git commit -m 'npm publish'",
		"echo npm publish",
		"twine check dist/*",
		"goreleaser build --snapshot",
		"npm version patch",
		"gem build x.gemspec",
	] {
		count(publish.ask) == 0 with input as gate.event(call)
	}
}
