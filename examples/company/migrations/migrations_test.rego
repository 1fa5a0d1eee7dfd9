package company.migrations_test

import data.company.migrations

test_asks if {
	every line in [
		"python manage.py migrate",
		"DJANGO_ENV=x python3 manage.py migrate shop",
		"alembic upgrade head",
		"/usr/bin/alembic upgrade head",
		"bundle exec rails db:migrate",
		"cd api && make migrate",
		"npx prisma migrate deploy",
		"docker compose exec web python manage.py migrate",
		"sh -c 'alembic upgrade head'",
	] {
		count(migrations.ask) > 0 with input as gate.event(line)
	}
}

test_passes if {
	every line in [
		"python manage.py showmigrations",
		"python manage.py makemigrations",
		"alembic history",
		"make test",
		"cat migrations/0001.py",
		"echo alembic upgrade head",
		"psql -c 'select 1'",
		"psql -c 'delete from t where id = 1'",
		"npx prisma migrate status",
	] {
		count(migrations.ask) == 0 with input as gate.event(line)
	}
}

test_commands_are_a_parameter if {
	count(migrations.ask) == 1 with input as gate.event("./bin/db up")
		with data.gate.params.company.migrations.commands as ["./bin/db up"]
}
