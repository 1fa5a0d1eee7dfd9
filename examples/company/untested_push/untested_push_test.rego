package company.untested_push_test

import data.company.untested_push

test_remembers_changes if {
	untested_push.remember == {{"mark": "untested", "value": true}} with input as gate.event("echo x > main.go")
	untested_push.remember == {{"mark": "untested", "value": null}} with input as gate.event("go test ./...")
	untested_push.remember == set() with input as gate.event("git status")
}

test_asks if {
	changed := {"session": {"marks": {"untested": true}}}
	count(untested_push.ask) == 1 with input as gate.event(object.union({"bash": "git push"}, changed))
	count(untested_push.ask) == 0 with input as gate.event("git push")
	count(untested_push.ask) == 0 with input as gate.event(object.union({"bash": "git status"}, changed))
}

test_tests_are_a_parameter if {
	untested_push.remember == set() with input as gate.event("go test ./...")
		with data.gate.params.company.untested_push.tests as ["make check"]
}
