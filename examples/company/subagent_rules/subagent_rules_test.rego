package company.subagent_rules_test

import data.company.subagent_rules

start(type) := gate.event({"event": "SubagentStart", "fields": {"agent_id": "a1", "agent_type": type}})

test_tells_reviewers if {
	every type in ["review", "code-reviewer", "Reviewer"] {
		count(subagent_rules.context) == 1 with input as start(type)
	}
}

test_says_nothing_to_others if {
	every type in ["general-purpose", "Explore", ""] {
		count(subagent_rules.context) == 0 with input as start(type)
	}
}
