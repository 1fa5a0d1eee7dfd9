package gate.budget.denials_test

import data.gate.budget.denials

had(row, round, same) := gate.event({
	"tool": "Bash",
	"input": {"command": "ls"},
	"session": {"consecutive_denials": row, "denials_of_this_call": same, "round": {"denials": round}},
})

test_halts_at_the_limit if {
	count(denials.halt) == 1 with input as had(10, 20, 0) with data.gate.params.gate.budget.denials.in_a_row as 10
	count(denials.halt) == 1 with input as had(0, 10, 0) with data.gate.params.gate.budget.denials.per_round as 10
	count(denials.halt) == 1 with input as had(0, 5, 3) with data.gate.params.gate.budget.denials.same_call as 3
	count(denials.halt) == 1 with input as had(11, 20, 0) with data.gate.params.gate.budget.denials.in_a_row as 10
}

test_says_how_many if {
	some h in denials.halt with input as had(12, 20, 0) with data.gate.params.gate.budget.denials.in_a_row as 10
	startswith(h.reason, "12 calls in a row")
}

test_passes_below_the_limit if {
	count(denials.halt) == 0 with input as had(9, 9, 2)
		with data.gate.params.gate.budget.denials.in_a_row as 10
		with data.gate.params.gate.budget.denials.per_round as 10
		with data.gate.params.gate.budget.denials.same_call as 3
}

test_passes_without_a_limit if {
	count(denials.halt) == 0 with input as had(900, 900, 900)
	count(denials.halt) == 0 with input as had(900, 1, 900) with data.gate.params.gate.budget.denials.per_round as 10
	count(denials.halt) == 0 with input as had(1, 900, 900) with data.gate.params.gate.budget.denials.in_a_row as 10
}

test_passes_without_a_memory if {
	count(denials.halt) == 0 with input as gate.event("ls") with data.gate.params.gate.budget.denials.in_a_row as 1
}
