package gate.packages.publish_test

import data.gate.packages.publish

test_asks if {
	every call in [
		"npm publish",
		"cargo publish",
		"twine upload dist/*",
		"npm unpublish x",
		"gem push x.gem",
		"docker push acme/api",
		"yarn publish",
		"pnpm publish",
		"poetry publish",
		"gh release create v1",
		"cargo yank --version 1.0.0",
		"uv publish",
		"yarn npm publish",
		"mvn deploy",
		"dotnet nuget push x.nupkg",
		"goreleaser release",
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
