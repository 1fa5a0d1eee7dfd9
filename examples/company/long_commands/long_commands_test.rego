package company.long_commands_test

import data.company.long_commands

call(fields) := gate.event({"tool": "Bash", "input": fields})

test_gives_time if {
	every fields in [
		{"command": "make all"},
		{"command": "cd web && npm test"},
		{"command": "go test ./...", "timeout": 900000},
		{"command": "ls", "timeout": 900000},
	] {
		some change in long_commands.modify with input as call(fields)
		change.input == {"timeout": 600000}
	}
}

test_leaves_alone if {
	every fields in [
		{"command": "ls"},
		{"command": "make all", "timeout": 600000},
		{"command": "make all", "timeout": 1000},
		{"command": "npm start", "run_in_background": true},
		{"command": "echo make"},
		{"command": "$RUN"},
	] {
		count(long_commands.modify) == 0 with input as call(fields)
	}
}

test_time_is_a_parameter if {
	some change in long_commands.modify with input as call({"command": "make"})
		with data.gate.params.company.long_commands.milliseconds as 1000
	change.input.timeout == 1000
}
