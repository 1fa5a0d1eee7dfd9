package company.freeze_test

import data.company.freeze

at(now, labels, line) := gate.event({"bash": line, "gate": {"now": now, "labels": labels}})

test_denies if {
	every line in ["git push", "npm publish", "terraform apply", "kubectl apply -f x", "helm upgrade a b"] {
		every now in ["2026-12-18T17:00:00Z", "2026-12-24T12:00:00Z", "2027-01-04T07:59:59Z"] {
			count(freeze.deny) > 0 with input as at(now, {}, line)
		}
	}
}

test_passes_before_and_after if {
	every now in ["2026-12-18T16:59:59Z", "2027-01-04T08:00:00Z", "2026-06-01T00:00:00Z"] {
		count(freeze.deny) == 0 with input as at(now, {}, "git push")
	}
}

test_passes_what_changes_nothing if {
	every line in ["kubectl get pods", "terraform plan", "git commit -m x", "git fetch", "npm test", "rm a", "echo x > a"] {
		count(freeze.deny) == 0 with input as at("2026-12-24T12:00:00Z", {}, line)
	}
}

test_passes_exempt_machines if {
	count(freeze.deny) == 0 with input as at("2026-12-24T12:00:00Z", {"freeze": "exempt"}, "git push")
	count(freeze.deny) > 0 with input as at("2026-12-24T12:00:00Z", {"freeze": "no"}, "git push")
}

test_times_are_parameters if {
	event := at("2026-06-01T12:00:00Z", {}, "git push")
	count(freeze.deny) == 1 with input as event
		with data.gate.params.company.freeze as {"from": "2026-06-01T00:00:00Z", "until": "2026-06-02T00:00:00+02:00"}
}
