package gate.budget.time_test

import data.gate.budget.time

after(seconds, told) := after_with(seconds, told, "Bash")

after_with(seconds, told, tool) := in_round(2, seconds, told, tool)

in_round(number, seconds, told, tool) := gate.event({
	"tool": tool,
	"input": {"command": "ls"},
	"session": {"round": {"number": number, "seconds": seconds, "told": told}},
})

never := {}

mine(seconds) := {"gate.budget.time": seconds}

test_tells_once_at_the_soft_limit if {
	count(time.context) == 1 with input as after(60, never) with data.gate.params.gate.budget.time.soft_seconds as 60
	some c in time.context with input as after(75, never) with data.gate.params.gate.budget.time.soft_seconds as 60
	contains(c.text, "75 seconds")
	count(time.context) == 1 with input as after(60, {"acme.other": 3}) with data.gate.params.gate.budget.time.soft_seconds as 60
}

test_tells_nothing_else if {
	count(time.context) == 0 with input as after(59, never) with data.gate.params.gate.budget.time.soft_seconds as 60
	count(time.context) == 0 with input as after(90, mine(0)) with data.gate.params.gate.budget.time.soft_seconds as 60
	count(time.context) == 0 with input as after(90, mine(30)) with data.gate.params.gate.budget.time.soft_seconds as 60
	count(time.context) == 0 with input as after(90, never) with data.gate.params.gate.budget.time.hard_seconds as 120
}

test_rejects_after_the_hard_limit if {
	every seconds in [120, 121, 9000] {
		count(time.deny) == 1 with input as after(seconds, never) with data.gate.params.gate.budget.time.hard_seconds as 120
	}
}

test_rejects_after_the_grace if {
	every ago in [30, 31, 500] {
		count(time.deny) == 1 with input as after(120, mine(ago))
			with data.gate.params.gate.budget.time.soft_seconds as 60
			with data.gate.params.gate.budget.time.hard_seconds as 120
	}
}

limits := {"soft_seconds": 60, "hard_seconds": 120, "first_soft_seconds": 300, "first_hard_seconds": 600, "grace_seconds": 30, "tools": []}

test_tells_by_the_round if {
	every at in [[0, 300], [1, 300], [2, 60], [3, 60], [9, 60]] {
		[number, seconds] := at
		count(time.context) == 1 with input as in_round(number, seconds, never, "Bash") with data.gate.params.gate.budget.time as limits
		count(time.context) == 0 with input as in_round(number, seconds - 1, never, "Bash") with data.gate.params.gate.budget.time as limits
	}
}

test_rejects_by_the_round if {
	every at in [[0, 600], [1, 600], [2, 120], [3, 120], [9, 120]] {
		[number, seconds] := at
		some d in time.deny with input as in_round(number, seconds, mine(30), "Bash") with data.gate.params.gate.budget.time as limits
		contains(d.reason, sprintf("%d seconds", [seconds]))
		count(time.deny) == 0 with input as in_round(number, seconds - 1, mine(30), "Bash") with data.gate.params.gate.budget.time as limits
	}
}

test_rejects_in_the_first_round_only if {
	count(time.deny) == 1 with input as in_round(1, 600, never, "Bash") with data.gate.params.gate.budget.time.first_hard_seconds as 600
	count(time.deny) == 0 with input as in_round(2, 9000, never, "Bash") with data.gate.params.gate.budget.time.first_hard_seconds as 600
}

test_warns_in_the_first_round_before_it_rejects if {
	count(time.deny) == 0 with input as in_round(1, 600, never, "Bash")
		with data.gate.params.gate.budget.time.first_soft_seconds as 300
		with data.gate.params.gate.budget.time.hard_seconds as 600
	count(time.deny) == 1 with input as in_round(2, 600, never, "Bash")
		with data.gate.params.gate.budget.time.first_soft_seconds as 300
		with data.gate.params.gate.budget.time.hard_seconds as 600
}

test_passes if {
	count(time.deny) == 0 with input as after(119, never) with data.gate.params.gate.budget.time.hard_seconds as 120
	count(time.deny) == 0 with input as after(9000, never) with data.gate.params.gate.budget.time.soft_seconds as 60
	every told in [never, mine(0), mine(29), {"acme.other": 500}] {
		count(time.deny) == 0 with input as after(9000, told)
			with data.gate.params.gate.budget.time.soft_seconds as 60
			with data.gate.params.gate.budget.time.hard_seconds as 120
	}
	count(time.deny) == 0 with input as after(119, mine(59))
		with data.gate.params.gate.budget.time.soft_seconds as 60
		with data.gate.params.gate.budget.time.hard_seconds as 120
}

test_passes_what_hands_in if {
	count(time.deny) == 0 with input as after_with(9000, never, "mcp__team__submit")
		with data.gate.params.gate.budget.time.hard_seconds as 120
		with data.gate.params.gate.budget.time.tools as ["mcp__team__submit"]
	count(time.deny) == 1 with input as after(9000, never)
		with data.gate.params.gate.budget.time.hard_seconds as 120
		with data.gate.params.gate.budget.time.tools as ["mcp__team__submit"]
}

test_passes_without_a_memory if {
	count(time.deny) + count(time.context) == 0 with input as gate.event("ls")
		with data.gate.params.gate.budget.time.soft_seconds as 1
		with data.gate.params.gate.budget.time.hard_seconds as 1
}
