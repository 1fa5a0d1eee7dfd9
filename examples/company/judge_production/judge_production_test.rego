package company.judge_production_test

import data.company.judge_production

test_consults if {
	every line in [
		"acme-migrate /srv/production/db",
		"acme-migrate --config=/etc/acme/db.yaml --go",
		"cd /srv/production && ./acme-migrate up",
		"/srv/production/bin/acme-migrate up",
		"true && sh -c 'acme-migrate /srv/production'",
		"sudo acme-migrate ../../../srv/production/db",
	] {
		some question in judge_production.consult with input as gate.event(line)
		question.hook == "judge"
		startswith(question.reason, "runs acme-migrate, which is not known, near /")
	}
}

test_passes if {
	every line in [
		"acme-migrate ./db",
		"acme-migrate /srv/production2/db",
		"ls /srv/production",
		"cat /etc/acme/db.yaml && acme-migrate ./db",
		"cd /srv/production && git status",
		"cd /srv/staging && ./acme-migrate up",
		"echo acme-migrate /srv/production/db",
	] {
		count(judge_production.consult) == 0 with input as gate.event(line)
	}
}

test_directories_are_a_parameter if {
	count(judge_production.consult) == 1 with input as gate.event("acme-migrate /data/db")
		with data.gate.params.company.judge_production.directories as ["/data"]
}
