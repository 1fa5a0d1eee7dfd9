package gate.database.destroy_test

import data.gate.database.destroy

test_denies if {
	every call in [
		"psql -h db.example.com -c 'DROP TABLE users'",
		"mysql -h db.example.com -e 'DROP DATABASE app'",
		"redis-cli -h db.example.com FLUSHALL",
		"psql postgres://u@db.example.com/app -c 'TRUNCATE users'",
		"mongosh mongodb://db.example.com/app --eval 'db.dropDatabase()'",
		"dropdb -h db.example.com app",
		"pg_restore -h db.example.com -d app dump",
		"mongorestore --host db.example.com --drop dump",
	] {
		count(destroy.deny) > 0 with input as gate.event(call)
		count(destroy.ask) == 0 with input as gate.event(call)
	}
}

test_asks if {
	every call in [
		"sqlite3 app.db 'DROP TABLE users'",
		"psql -c 'DROP TABLE users'",
		"dropdb app",
		"mysql -e 'DROP DATABASE app'",
		"redis-cli FLUSHALL",
		"sqlite3 app.db 'DELETE FROM users'",
		"psql -c 'UPDATE users SET admin = true'",
		"echo 'DROP TABLE users;' | psql",
		"psql -c 'TRUNCATE users'",
		"mongosh --eval 'db.users.drop()'",
		"psql <<'X'\nDROP TABLE users;\nX",
		"mongosh --eval 'db.dropDatabase()'",
		"bin/rails db:drop",
		"psql -c 'ALTER USER app WITH SUPERUSER'",
		"psql -c 'alter role app superuser createdb'",
		"redis-cli SHUTDOWN NOSAVE",
		"redis-cli <<< FLUSHALL",
		"echo flush_all | nc localhost 11211",
		"mongosh --eval 'db[\"users\"][\"drop\"]()'",
		"python3 -c 'import redis; redis.Redis().flushall()'",
		"node -e 'require(\"mongoose\").connection.dropDatabase()'",
		"cypher-shell 'MATCH (n) DETACH DELETE n'",
		"mvn flyway:clean",
		"redis-cli flushdb",
		"psql -c 'drop schema public cascade'",
		"mysql app -e 'truncate table users'",
		"python3 manage.py flush --noinput",
		"npx prisma migrate reset --force",
		"alembic downgrade base",
		{"tool": "mcp__postgres__query", "input": {"sql": "DROP TABLE users"}},
		{"tool": "mcp__supabase__execute", "input": {"query": "DELETE FROM users"}},
		"psql -h localhost -c 'DROP TABLE users'",
		"psql postgres://u@127.0.0.1/app -c 'TRUNCATE users'",
		"psql -h /var/run/postgresql -c 'DROP TABLE users'",
		"psql -h \"$DB\" -c 'DROP TABLE users'",
		"psql \"$DB\" -c 'DROP TABLE users'",
		"psql -h db.example.com -c 'ALTER TABLE users DROP COLUMN name'",
		"psql -h db.example.com -c 'DELETE FROM users'",
		"pg_restore -d app dump",
		"createdb app; pg_restore -d app dump",
		"createdb app || pg_restore -d app dump",
		"! createdb app && pg_restore -d app dump",
		"createdb app | cat && pg_restore -d app dump",
		"createdb app2 && pg_restore -d app dump",
		"createdb -p 5433 app && pg_restore -d app dump",
		"createdb --maintenance-db=postgres://a/postgres app && pg_restore -d app dump",
		"createdb app && pg_restore -C -d app dump",
		"pg_restore -d app dump && createdb app",
		"PGPORT=5433 createdb app && pg_restore -d app dump",
		"createdb app && docker exec pg pg_restore -d app dump",
		"redis-cli flushall async",
	] {
		count(destroy.ask) > 0 with input as gate.event(call)
		count(destroy.deny) == 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		"psql -c 'SELECT 1'",
		"psql -c \"CREATE ROLE app LOGIN PASSWORD 'x'; GRANT ALL ON DATABASE app TO app\"",
		"redis-cli <<< 'GET x'",
		"echo PING | nc localhost 6379",
		"mongosh --eval 'db[\"users\"][\"find\"]()'",
		"python3 -c 'import redis; redis.Redis().get(1)'",
		"mvn clean install",
		"sqlite3 app.db '.schema'",
		`psql -c "DELETE FROM users WHERE id = 1"`,
		"redis-cli --scan --pattern 'user:*'",
		"redis-cli get x",
		"redis-cli DEL a",
		"sqlite3 app.db 'UPDATE users SET a = 1 WHERE id = 2'",
		"bin/rails db:migrate",
		"bin/rails db:migrate:status",
		"alembic history",
		"alembic upgrade head",
		"pg_dump app",
		"createdb app_test",
		"psql -l",
		"mongosh --eval 'db.users.find()'",
		{"tool": "mcp__notion__search", "input": {"query": "drop table"}},
		"git commit -am 'drop table users from the fixture'",
		"echo 'DROP TABLE users'",
		"grep -rn 'DROP TABLE' migrations",
		"psql -c 'INSERT INTO t VALUES (1)'",
		"sqlite3 app.db 'select * from drops'",
		"redis-cli getdel a",
		"redis-cli zrem a b",
		"psql -h db.example.com -c 'DELETE FROM users WHERE id = 1'",
		{"tool": "mcp__wiki__find", "input": {"sql": "DELETE FROM users"}},
	] {
		count(destroy.deny) == 0 with input as gate.event(call)
		count(destroy.ask) == 0 with input as gate.event(call)
	}
}

test_passes_databases_of_tests if {
	every line in [
		"dropdb --if-exists app_test",
		"dropdb test_2",
		"set -e; export LC_ALL=C; dropdb app_test && createdb app_test",
		"RAILS_ENV=test bundle exec rake db:reset",
		"MIX_ENV=test mix ecto.drop",
		"psql -h localhost app_test -c 'drop table x'",
		"duckdb /tmp/x.duckdb -c 'drop table t'",
		"psql -d app-test -c 'truncate a'",
		"psql postgres://dev@localhost/app_test?sslmode=disable -c 'delete from a'",
		"psql postgres -c 'DROP DATABASE IF EXISTS app_test'",
		"mysql -u root app_test -e 'drop table users; update a set b = 1'",
		"sqlite3 data/test.db 'drop table users'",
		"sqlite3 /tmp/scratch.db 'drop table if exists t'",
		`mongosh mongodb://localhost/app_test --eval 'db.dropDatabase()'`,
		"set -euo pipefail; MIX_ENV=test mix ecto.drop --quiet",
		"docker compose exec -T db dropdb --if-exists -U app app_test",
		"bash -c 'dropdb app_test'",
		"PGPASSWORD=x psql -h 127.0.0.1 -p 5433 -U app -qc 'drop table x' app_test",
		"export RAILS_ENV=test; RAILS_ENV=test bin/rails db:drop db:create",
	] {
		count(destroy.deny | destroy.ask) == 0 with input as gate.event(line)
	}
}

test_asks_beside_databases_of_tests if {
	every line in [
		"dropdb latest",
		"dropdb contest_data",
		"sqlite3 latest.db 'drop table x'",
		"psql app_test -c 'drop database app'",
		"psql app_test -c 'drop role dev'",
		"psql app_test -d app -c 'drop table users'",
		"psql app_test -f drop.sql -c 'drop table users'",
		`psql app_test -c '\c app' -c 'drop table users'`,
		"psql -c 'drop table users' 'host=prod dbname=app_test'",
		"psql \"$DB\" app_test -c 'drop table users'",
		"psql app_test <<< 'drop table users'",
		"PGHOST=prod psql app_test -c 'drop table users'",
		"PGHOST=prod dropdb app_test",
		"export PGHOST=prod; psql app_test -c 'drop table users'",
		"export \"$SETTING\"; dropdb app_test",
		"source .env && dropdb app_test",
		"psql 'postgres://dev@localhost/app_test?host=prod' -c 'drop table users'",
		"psql 'postgres://dev@localhost/app_test?sslmode=disable&dbname=app' -c 'drop table users'",
		"mysql app_test -e 'use app; drop table users'",
		"mysql app_test -e 'drop table app.users'",
		"psql postgres://db.example.com/app_test -c 'delete from users'",
		"sqlite3 /tmp/../home/dev/app.db 'drop table t'",
		"sqlite3 /tmp/x.db \"attach 'app.db' as a; drop table a.users\"",
		"sqlite3 test.db \"attach 'app.db' as a; drop table users\"",
		`mongosh app_test --eval 'db.getSiblingDB("app").dropDatabase()'`,
		"RAILS_ENV=production rails db:drop",
		"RAILS_ENV=test rails db:drop -e production",
		"RAILS_ENV=test rails db:drop RAILS_ENV=production",
		"RAILS_ENV=test rails db:drop:all",
		"RAILS_ENV=test DATABASE_URL=postgres://prod/app rails db:drop",
		"RAILS_ENV=test npx prisma migrate reset --force",
		`mongosh app_test --eval 'use("app"); db.dropDatabase()'`,
		`mongosh app_test --eval 'Mongo("prod").getDB("app").users.drop()'`,
		"export PGHO''ST=prod; dropdb app_test",
		"env PGHO''ST=prod dropdb app_test",
		"read PGHOST <<< prod; export PGHOST; dropdb app_test",
		"for PGHOST in prod; do export PGHOST; dropdb app_test; done",
		"set -a; X=1; dropdb app_test",
		"mysql --defaults-file=prod.cnf app_test -e 'drop table users'",
		"HOME=/tmp/x mysql app_test -e 'drop table users'",
		"ssh -fNL 5432:prod:5432 bastion; psql -h localhost app_test -c 'drop table x'",
		"ssh prod dropdb app_test",
		"kubectl exec db-0 -- dropdb app_test",
		"sqlite3 test.db -init x.sql 'drop table x'",
		"ln -sf app.db test.db; sqlite3 test.db 'drop table users'",
		"mysql app_test -e 'drop table x, app.users'",
		"dropdb app_test app",
		"RAILS_ENV=test RACK_ENV=production rails db:drop",
		"RAILS_ENV=test rails runner 'User.delete_all'",
		"RAILS_ENV=test rails db:drop DB=app",
		"RAILS_ENV=test env -u RAILS_ENV rails db:drop",
		"MIX_ENV=test mix ecto.drop -r Prod.Repo",
		"psql service=prod/app_test -c 'drop table x'",
		"PGOPTIONS='-c search_path=prod' psql app_test -c 'drop table users'",
	] {
		count(destroy.ask) > 0 with input as gate.event(line)
	}
}

test_reason_says_what_goes if {
	every line, what in {
		"psql -c 'DROP TABLE users'": "would drop table users;",
		"sqlite3 app.db 'delete from users'": "would delete rows of users without a condition",
		"bin/rails db:drop": "would lose data (rails drop db:drop);",
		"redis-cli flushdb": "would lose data (redis-cli flushdb);",
		"dropdb app": "would lose data (dropdb drop app);",
	} {
		some question in destroy.ask with input as gate.event(line)
		startswith(question.reason, what)
	}
}

test_asks_once if {
	every line in ["sqlite3 app.db 'DELETE FROM users'", "sqlite3 app.db 'DROP TABLE users'"] {
		count(destroy.ask) == 1 with input as gate.event(line)
	}
}

test_asks_what_a_server_loads_or_writes if {
	every tool in ["redis-cli", "valkey-cli", "keydb-cli", "dragonfly-cli", "iredis"] {
		every words in ["MODULE LOAD /tmp/x.so", "config set dir /tmp"] {
			some question in destroy.ask with input as gate.event(sprintf("%s %s", [tool, words]))
			contains(question.reason, "leave the server's own files and extensions to the person")
		}
	}
	every line in [
		`sqlite3 a.db 'select load_extension("./x.so")'`,
		"redis-cli config get dir",
		"redis-cli MODULE LIST",
	] {
		count(destroy.ask) == 0 with input as gate.event(line)
	}
}

test_asks_where_the_line_may_lead_elsewhere if {
	every step in [
		"source env.sh", ". env.sh", "alias dropdb='dropdb -h prod'", "read -r PGOPTIONS", "mapfile -t lines < list",
		"readarray -t lines < list", "ln -s prod.conf .pg", "cp prod.conf .pg", "mv prod.conf .pg", "ssh -fN -L 5432:db:5432 prod",
		"autossh -fN -L 5432:db:5432 prod", "kubectl port-forward svc/db 5432", "oc port-forward svc/db 5432",
		"socat TCP-LISTEN:5432,fork TCP:db:5432", "printf -v PGOPTIONS x", "set -a", "declare -x PGHOSTADDR=db", "typeset -x X=db",
		"readonly PGSERVICE=db", "DATABASE_URL=x", "for PGDATA in x; do :; done",
	] {
		count(destroy.deny | destroy.ask) > 0 with input as gate.event(sprintf("%s; dropdb app_test", [step]))
	}
	every step in ["set -eux", "set -o pipefail", "printf x", "echo PGOPTIONS", "export LANG=C", "cd db", "createdb app_test"] {
		count(destroy.deny | destroy.ask) == 0 with input as gate.event(sprintf("%s; dropdb app_test", [step]))
	}
}

test_passes_databases_of_tests_by_any_client if {
	every line in [
		"mysqladmin drop app_test",
		"mysqladmin -f -h localhost -P 3307 -u root drop app_test",
		"mariadb -u root app_test -e 'drop table x'",
		"mysql --database app_test --execute 'drop table x'",
		"mongo app_test --norc --eval 'db.users.drop()'",
		"psql -AtX --no-password app_test -c 'drop index x'",
		"psql -w -tA --single-transaction app_test -c 'drop view x'",
		"sqlite3 -batch /tmp/x.db 'drop table t'",
	] {
		count(destroy.deny | destroy.ask) == 0 with input as gate.event(line)
	}
	every line in [
		"mysqladmin drop app",
		"mysqladmin -h db.example.com drop app_test",
		"mariadb app -e 'drop table x'",
		"sqlite3 /tmp/../srv/x.db 'drop table t'",
		"duckdb data/app.duckdb -c 'drop table t'",
		"psql 'app=test' -c 'drop table x'",
	] {
		count(destroy.deny | destroy.ask) > 0 with input as gate.event(line)
	}
}

test_passes_into_a_new_database if {
	every call in [
		"createdb app && pg_restore -d app dump",
		"PGPASSWORD=x createdb -h localhost -p 5433 -U postgres app && PGPASSWORD=x pg_restore -h localhost -p 5433 -U postgres -d app --no-owner dump",
	] {
		count(destroy.ask) == 0 with input as gate.event(call)
		count(destroy.deny) == 0 with input as gate.event(call)
	}
}
