package company.ssh_production_test

import data.company.ssh_production

test_asks if {
	every line in [
		"ssh prod-1.acme.example uptime",
		"ssh deploy@db.prod.acme.example",
		"ssh -J jump live-2 ls",
		`ssh "$HOST" uptime`,
		"cd x && ssh prod-1 ls",
	] {
		count(ssh_production.ask) > 0 with input as gate.event(line)
	}
}

test_asks_what_is_not_known_whatever_production_is_called if {
	count(ssh_production.ask) == 1 with input as gate.event(`ssh "$HOST" uptime`)
		with data.gate.params.company.ssh_production.production as "^blue$"
	count(ssh_production.ask) == 0 with input as gate.event("ssh prod-1 uptime")
		with data.gate.params.company.ssh_production.production as "^blue$"
}

test_passes if {
	every line in [
		"ssh staging-1 uptime",
		"ssh products.acme.example",
		"git fetch origin",
		"curl https://prod.acme.example/health",
		"ls prod",
	] {
		count(ssh_production.ask) == 0 with input as gate.event(line)
	}
}
