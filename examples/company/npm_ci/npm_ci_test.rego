package company.npm_ci_test

import data.company.npm_ci

test_rewrites if {
	every line, span in {
		"npm install": [4, 11],
		"npm i": [4, 5],
		"cd web && npm install && npm test": [14, 21],
		"npm install --prefix web --no-audit": [4, 11],
		"sudo npm install": [9, 16],
	} {
		some change in npm_ci.modify with input as gate.event(line)
		change.edits == [{"span": span, "text": "ci"}]
	}
}

test_denies_where_it_cannot_write if {
	every line in ["sh -c 'npm install'", "echo npm i | sh", "ssh build npm install"] {
		count(npm_ci.deny) == 1 with input as gate.event(line)
	}
}

test_leaves_alone if {
	every line in [
		"npm ci",
		"npm install left-pad",
		"npm install --save-dev left-pad",
		`npm install "$PACKAGE"`,
		"npm install -g",
		"npm install --package-lock-only",
		"npm install --dry-run",
		"npm run install",
		"yarn install",
		"echo npm install",
	] {
		count(npm_ci.modify) + count(npm_ci.deny) == 0 with input as gate.event(line)
	}
}
