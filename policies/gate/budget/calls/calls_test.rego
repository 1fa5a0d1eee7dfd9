package gate.budget.calls_test

import data.gate.budget.calls

made(minute, round, session) := gate.event({
	"tool": "Bash",
	"input": {"command": "ls"},
	"session": {"calls_last_minute": minute, "calls": session, "round": {"calls": round}},
})

test_rejects_one_too_many if {
	count(calls.deny) == 1 with input as made(31, 40, 50) with data.gate.params.gate.budget.calls.per_minute as 30
	count(calls.deny) == 1 with input as made(1, 31, 50) with data.gate.params.gate.budget.calls.per_round as 30
	count(calls.deny) == 1 with input as made(1, 2, 31) with data.gate.params.gate.budget.calls.per_session as 30
}

test_names_the_limit if {
	some d in calls.deny with input as made(31, 40, 50) with data.gate.params.gate.budget.calls.per_minute as 30
	contains(d.reason, "30 calls in a minute")
}

test_passes_the_last_one if {
	count(calls.deny) == 0 with input as made(30, 30, 30)
		with data.gate.params.gate.budget.calls.per_minute as 30
		with data.gate.params.gate.budget.calls.per_round as 30
		with data.gate.params.gate.budget.calls.per_session as 30
}

test_passes_without_a_limit if {
	count(calls.deny) == 0 with input as made(900, 900, 900)
	count(calls.deny) == 0 with input as made(900, 1, 900) with data.gate.params.gate.budget.calls.per_round as 30
	count(calls.deny) == 0 with input as made(1, 900, 900) with data.gate.params.gate.budget.calls.per_minute as 30
}

test_passes_without_a_memory if {
	count(calls.deny) == 0 with input as gate.event("ls") with data.gate.params.gate.budget.calls.per_minute as 1
}
