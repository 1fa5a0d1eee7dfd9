package company.session_rules_test

import data.company.session_rules

start(source) := gate.event({"event": "SessionStart", "fields": {"source": source}})

test_tells if {
	every source in ["startup", "clear", "compact"] {
		some told in session_rules.context with input as start(source)
		contains(told.text, "main is protected.\nPlan")
	}
}

test_says_nothing_twice if count(session_rules.context) == 0 with input as start("resume")
