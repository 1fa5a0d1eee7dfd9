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
		"redis-cli flushall async",
	] {
		count(destroy.ask) > 0 with input as gate.event(call)
		count(destroy.deny) == 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		"psql -c 'SELECT 1'",
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
