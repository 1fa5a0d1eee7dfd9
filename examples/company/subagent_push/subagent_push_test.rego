package company.subagent_push_test

import data.company.subagent_push

by(fields, line) := gate.event({"bash": line, "fields": fields})

test_denies if {
	every line in ["git push", "git push origin x", "npm publish", "cd x && git push"] {
		count(subagent_push.deny) == 1 with input as by({"agent_id": "a1", "agent_type": "reviewer"}, line)
	}
}

test_passes if {
	count(subagent_push.deny) == 0 with input as by({}, "git push")
	count(subagent_push.deny) == 0 with input as by({"agent_type": "main"}, "git push")
	every line in ["git commit -m x", "git fetch", "npm test", "rm a"] {
		count(subagent_push.deny) == 0 with input as by({"agent_id": "a1"}, line)
	}
}
