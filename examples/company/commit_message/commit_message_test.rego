package company.commit_message_test

import data.company.commit_message

test_denies if {
	every line in [
		"git commit -m 'Fixed stuff'",
		"git commit -am wip",
		"git commit -m 'feature: x'",
		"git commit -m 'fix:no blank'",
		"cd web && git commit --message='update'",
		"git commit -m \"$(cat <<'EOF'\nUpdate things\n\nbody\nEOF\n)\"",
	] {
		count(commit_message.deny) == 1 with input as gate.event(line)
	}
}

test_passes if {
	every line in [
		"git commit -m 'fix: count items once'",
		"git commit -m 'feat(cart)!: drop v1' -m 'body in any form'",
		"git commit --amend --no-edit",
		"git commit -F message.txt",
		"git commit",
		"git commit -m 'fixup! fix: x'",
		"git commit -m \"$(cat <<'EOF'\nfix: count\n\nbody\nEOF\n)\"",
		"git log -m wip",
		"git tag -m wip v1",
		`git tag -m "$MSG" v1`,
	] {
		count(commit_message.deny) == 0 with input as gate.event(line)
		count(commit_message.warn) == 0 with input as gate.event(line)
	}
}

test_warns_about_what_is_not_known if {
	count(commit_message.deny) == 0 with input as gate.event(`git commit -m "$MSG"`)
	count(commit_message.warn) == 1 with input as gate.event(`git commit -m "$MSG"`)
}

test_pattern_is_a_parameter if {
	count(commit_message.deny) == 0 with input as gate.event("git commit -m 'SHOP-12 x'")
		with data.gate.params.company.commit_message.pattern as `^SHOP-\d+ `
}
