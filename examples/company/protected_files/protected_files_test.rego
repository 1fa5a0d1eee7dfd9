package company.protected_files_test

import data.company.protected_files

test_asks if {
	every call in [
		{"tool": "Write", "input": {"file_path": "/home/dev/project/.github/workflows/ci.yml", "content": "x"}},
		{"tool": "Edit", "input": {"file_path": "/home/dev/project/CODEOWNERS", "old_string": "a", "new_string": "b"}},
		"echo '* @me' >> CODEOWNERS",
		"sed -i s/a/b/ .github/workflows/ci.yml",
		"rm -rf .github/workflows",
		"cd .github && rm codeowners",
		"cp /tmp/x go.sum",
		"mv x web/package-lock.json",
	] {
		count(protected_files.ask) > 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		{"tool": "Write", "input": {"file_path": "/home/dev/project/main.go", "content": "CODEOWNERS"}},
		{"tool": "Read", "input": {"file_path": "/home/dev/project/CODEOWNERS"}},
		"cat .github/workflows/ci.yml",
		"cp CODEOWNERS /tmp/x",
		"echo x > CODEOWNERS.md",
		"npm ci",
		`echo x > "$FILE"`,
	] {
		count(protected_files.ask) == 0 with input as gate.event(call)
	}
}

test_one_star_stays_in_a_directory if {
	count(protected_files.ask) == 1 with input as gate.event("echo x > a.tf")
		with data.gate.params.company.protected_files.files as ["/home/dev/project/*.tf"]
	count(protected_files.ask) == 0 with input as gate.event("echo x > infra/a.tf")
		with data.gate.params.company.protected_files.files as ["/home/dev/project/*.tf"]
}

test_files_are_a_parameter if {
	count(protected_files.ask) == 1 with input as gate.event("echo x > secret.tf")
		with data.gate.params.company.protected_files.files as ["**/*.tf"]
}
