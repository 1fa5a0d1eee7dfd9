package company.stop_unfinished_test

import data.company.stop_unfinished

stop(fields) := gate.event({"event": "Stop", "fields": fields})

test_goes_on if {
	every text in ["Two tests still fail.", "The export is not yet implemented.", "Retry is left as a TODO.", "Test fails on CI"] {
		count(stop_unfinished.deny) == 1 with input as stop({"stop_hook_active": false, "last_assistant_message": text})
	}
}

test_stops if {
	every fields in [
		{"stop_hook_active": false, "last_assistant_message": "All tests pass."},
		{"stop_hook_active": true, "last_assistant_message": "Two tests still fail."},
		{"stop_hook_active": false},
	] {
		count(stop_unfinished.deny) == 0 with input as stop(fields)
	}
}
