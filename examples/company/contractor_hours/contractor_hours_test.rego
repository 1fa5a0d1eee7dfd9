package company.contractor_hours_test

import data.company.contractor_hours

event(user, now, line) := gate.event({"bash": line, "gate": {"user": user, "now": now}})

tuned := {"users": ["kim"], "zone": "Europe/Berlin", "hours": [8, 18]}

test_denies_outside_working_hours if {
	every now in ["2026-06-01T05:59:00Z", "2026-06-01T16:00:00Z", "2026-06-06T10:00:00Z", "2026-06-07T10:00:00Z"] {
		every line in ["rm a", "echo x > a", "git push", "kubectl apply -f x", "make $TARGET"] {
			count(contractor_hours.deny) == 1 with input as event("kim", now, line)
				with data.gate.params.company.contractor_hours as tuned
		}
	}
}

test_says_when_work_goes_on if {
	some reason in contractor_hours.deny with input as event("kim", "2026-06-06T10:00:00Z", "rm a")
		with data.gate.params.company.contractor_hours as tuned
	endswith(reason, "work goes on at 8:00 (Europe/Berlin)")
}

test_passes_at_work if {
	every now in ["2026-06-01T06:00:00Z", "2026-06-01T15:59:00Z", "2026-12-01T07:00:00Z"] {
		count(contractor_hours.deny) == 0 with input as event("kim", now, "git push")
			with data.gate.params.company.contractor_hours as tuned
	}
}

test_passes_reading_and_others if {
	every line in ["ls", "cat .env", "git log", "kubectl get pods", "curl https://go.dev"] {
		count(contractor_hours.deny) == 0 with input as event("kim", "2026-06-06T10:00:00Z", line)
			with data.gate.params.company.contractor_hours as tuned
	}
	count(contractor_hours.deny) == 0 with input as event("dev", "2026-06-06T10:00:00Z", "git push")
		with data.gate.params.company.contractor_hours as tuned
}
