package company.database_production_test

import data.company.database_production

test_asks if {
	every line in [
		"psql -h db.prod.acme.example -c 'select 1'",
		"psql postgres://app@prod-db/shop",
		"psql --host=live-db shop",
		"mysql -h prod-db -e 'select 1'",
		"mongosh mongodb://prod.acme.example/shop",
		"pg_dump -h prod-db shop",
		"psql -d postgres://app@prod-db/shop",
		"psql 'host=prod-db dbname=shop'",
		"redis-cli -h prod-db ping",
		"redis-cli -u redis://prod-db ping",
		`psql -h "$DB"`,
		"cd x && sudo -u app psql -h prod-db",
	] {
		count(database_production.ask) > 0 with input as gate.event(line)
	}
}

test_passes if {
	every line in [
		"psql -h localhost shop",
		"psql -h staging-db -c 'select * from products'",
		"psql postgres://production@staging-db/shop",
		"mysql -h delivery-db",
		"ls prod",
		"mytool -h prod-db",
	] {
		count(database_production.ask) == 0 with input as gate.event(line)
	}
}
