# METADATA
# title: Loss of data in a database
# description: |
#   Dropping or emptying databases and tables elsewhere is rejected; doing so
#   locally, and changing every row, is put to a person. This policy ignores
#   reads and changes of chosen rows.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       attack: [T1485]
#       owasp-agentic: [ASI02]
#     if: [effect(database)]
package gate.database.destroy

import data.gate.lib

# METADATA
# description: data of a server that others use
deny contains {
	"reason": sprintf("%s on a database that is not on this machine; write a migration and let the person run it", [phrase(effect)]),
	"help": "Only a backup can bring the data back.",
	"span": lib.span(effect),
} if {
	some effect in statements
	elsewhere(effect)
}

# METADATA
# description: data of a database that may be the project's own
ask contains {
	"reason": sprintf("%s; make sure that it is a test database, or keep a copy first", [phrase(effect)]),
	"help": "Only a backup can bring the data back.",
	"span": lib.span(effect),
} if {
	some effect in statements
	loses(effect)
	not elsewhere(effect)
	not for_tests(effect)
	not into_new(effect)
}

# METADATA
# description: a change of every row
ask contains {
	"reason": sprintf("%s without a condition, which affects every row; add a WHERE clause", [phrase(effect)]),
	"help": "Only a backup can bring the old values back.",
	"span": lib.span(effect),
} if {
	some effect in statements
	effect.verb in {"delete", "update"}
	not lib.is(effect, "where", true)
	not for_tests(effect)
}

# METADATA
# description: a server made to load code, or to write where it should not
ask contains {
	"reason": sprintf("%s; leave the server's own files and extensions to the person", [phrase(effect)]),
	"help": "The server would run the code or write the file with its own rights.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("database")
	effect.verb in {"load extension", "write to a file"}
	effect.tool in {"redis-cli", "valkey-cli", "keydb-cli", "dragonfly-cli", "iredis"}
}

# METADATA
# description: power over the whole server
ask contains {
	"reason": sprintf("would %s; let the person change the server and its administrators", [power[effect.verb]]),
	"help": "Whoever reaches the server could do more than before, or nothing at all.",
	"span": lib.span(effect),
} if {
	some effect in statements
	effect.verb in object.keys(power)
}

power := {
	"superuser": "make somebody a superuser of the database server",
	"shutdown": "stop the database server",
	"grant to everybody": "give rights to everybody who reaches the database",
	"disable row security": "switch off the rules that say who sees which rows",
}

# What a tool without a shell is given may be a search for words.
statements contains effect if {
	some effect in lib.effects("database")
	effect.command != null
}

statements contains effect if {
	some effect in lib.effects("database")
	regex.match(`(?i)sql|postgres|mongo|redis|database|(^|_)db(_|$)|supabase|snowflake|bigquery|clickhouse|duckdb|execute`, input.tool_name)
}

# Somebody else's server: named on the line, and not this machine.
elsewhere(effect) if {
	lib.matches(effect, "verb", `^(drop|truncate|flush|restore)`)
	some server in servers(lib.command(effect))
	not here(server)
}

here(server) if {
	regex.match(`(?i)^(localhost|127(\.[0-9]+){3}|0\.0\.0\.0|::1|\[::1\]|host\.docker\.internal)(:[0-9]+)?$|^[/.]`, server)
}

servers(command) := {server |
	some option in ["host", "h"]
	some server in command.options[option]
	is_string(server)
} | {server |
	some word in command.words
	is_string(word.value)
	some found in regex.find_all_string_submatch_n(`^[a-z+]+://(?:[^/@]*@)?([^/?]+)`, word.value, -1)
	server := found[1]
}

loses(effect) if {
	lib.could_be(effect, "access", "delete")
	lib.text(effect, "verb", "") != "delete"
	not lib.matches(effect, "verb", `^(del|unlink|[hsz]?rem|hdel|lrem|getdel)$`)
}

# A copy that is played back may replace what is there.
loses(effect) if effect.verb == "restore"

# A copy that is played back into a database that the line makes just before: nothing
# is there that it could replace, and without the database it does not run.
into_new(effect) if {
	effect.verb == "restore"
	is_string(effect.object)
	restores := lib.command(effect)
	some creates in input.facts.shell.commands
	creates.program == "createdb"
	creates.id < restores.id
	creates.operands == [effect.object]
	every option, _ in creates.options {
		option in {"host", "port", "username", "owner", "encoding", "template", "locale", "tablespace", "w", "e"}
	}
	not "create" in object.keys(restores.options)
	same_server(creates, restores)
	regex.match(`^[A-Za-z0-9_-]+$`, effect.object)
	not regex.match(`[;!|\n]|[^&]&[^&]|\b(PG(HOST|HOSTADDR|PORT|SERVICE|DATABASE)|export|alias|source)\b`, input.tool_input.command)
}

same_server(a, b) if {
	every command in [a, b] {
		command.via == []
		command.stdin == null
	}
	every option in ["host", "port", "username", "h", "p"] {
		object.get(a.options, option, []) == object.get(b.options, option, [])
	}
	a.env == b.env
}

# What tests make anew: a database on this machine that is named so on the line,
# by a client that nothing on the line leads to another one.
for_tests(effect) if {
	command := lib.command(effect)
	stays(command)
	every server in servers(command) {
		here(server)
	}
	names := databases(effect, command)
	count(names) > 0
	every name in names {
		regex.match(`(?i)^([a-z0-9_-]*[_-])?tests?([_-]?[0-9]+)?(\.(db|sqlite3?|duckdb))?$|^tests?[_-][a-z0-9_-]*$`, name)
	}
}

for_tests(effect) if {
	command := lib.command(effect)
	command.program in {"sqlite3", "duckdb"}
	is_string(command.operands[0])
	regex.match(`^/tmp/[^.]+(\.[a-z0-9]+)?$`, command.operands[0])
	stays(command)
}

# The database itself goes, or something in it.
databases(effect, command) := {effect.object} if {
	effect.tool in {"dropdb", "mysqladmin"}
	is_string(effect.object)
	count(command.operands) == {"dropdb": 1, "mysqladmin": 2}[effect.tool]
} else := {effect.object} if {
	effect.verb == "drop database"
	is_string(effect.object)
} else := connected(command) if {
	lib.matches(effect, "verb", `^(drop (table|view|index|schema|type|sequence|trigger|function|collection)|drop database|truncate|delete|update)$`)
	command.program in {"psql", "mysql", "mariadb", "mongosh", "mongo", "sqlite3"}
	command.stdin == null
} else := {environment} if {
	some variable in variables[command.program]
	environment := command.env[variable]
	every operand in command.operands {
		regex.match(`^(db:(drop|create|migrate|reset|setup|seed|prepare|schema:load|structure:load|test:prepare)|--quiet)$`, operand)
	}
}

variables := {"rails": {"RAILS_ENV"}, "rake": {"RAILS_ENV"}, "mix": {"MIX_ENV"}}

connected(command) := {name |
	some option in ["dbname", "database"]
	some named in command.options[option]
	name := database(named)
} | {name | name := database(command.operands[0])}

# The database that a client is told by its name, in a URL or as a file; what is
# none of them may be any.
database(text) := found[0][1] if {
	found := regex.find_all_string_submatch_n(`^(?:[a-z0-9+]+://[^/?]*/|[^=?:]*/)?([^/=?]*)(?:\?[^?]*)?$`, text, -1)
	count(found) > 0
} else := "/"

# A client that takes what it is told from its own words, all of them known, and
# from a line that changes nothing about where it goes.
stays(command) if {
	every option, _ in command.options {
		option in plain
	}
	every variable, _ in command.env {
		regex.match(harmless_variable, variable)
	}
	every step in command.via {
		regex.match(`^((docker|podman|nerdctl)( compose|-compose)? exec|docker-compose exec|bundle exec|env|bash|sh|time|timeout|nice)$`, step)
	}
	not "env" in command.via
	every word in command.words {
		is_string(word.value)
		not regex.match(leads, word.value)
	}
	every other in input.facts.shell.commands {
		not turns(other)
	}
	text := input.tool_input.command
	not regex.match(`\b\w*(HOST|SERVICE|URL|DSN|DATABASE)\w*=|\bfor\s+(PG|MYSQL|DB|DATABASE)`, text)
	exports := [other | some other in input.facts.shell.commands; other.program in {"export", "declare", "typeset", "readonly"}]
	count(regex.find_n(`\bexport\s+(LC_\w+|LANG|(RAILS|MIX|NODE)_ENV|PG(USER|PASSWORD|PORT))=`, text, -1)) >= count(exports)
}

# Options that say neither where the client goes nor what else it reads.
plain := {
	"host", "h", "port", "p", "P", "username", "user", "u", "password", "w", "no-password", "dbname", "database", "command", "execute",
	"eval", "c", "e", "if-exists", "force", "f", "echo", "quiet", "q", "no-psqlrc", "X", "no-align", "A", "tuples-only", "t", "batch",
	"silent", "N", "B", "s", "norc", "trace", "single-transaction", "protocol", "no-start", "force-drop",
}

harmless_variable := `^(LC_\w+|LANG|RAILS_ENV|MIX_ENV|NODE_ENV|PG(USER|PASSWORD|PORT)|MYSQL_PWD|DISABLE_DATABASE_ENVIRONMENT_CHECK|FORCE)$`

# Statements that go to another database, and words that name another one.
leads := concat("|", [
	`(?i)\\(c|connect|i|ir|include|!)\b|\b(use|attach)\b|getSibling|Mongo\(|adminCommand|connect\(|dblink|\.(open|read|restore)\b`,
	`[?&](host|hostaddr|port|service|dbname|database)=|^[A-Z_]*(ENV|URL|HOST)=|:all\b`,
	`\b(drop|truncate|from|update|table)\b[^;]*[\w"\x60\]]\s*\.\s*[\w"\x60\[]`,
])

# What the rest of the line may not do.
turns(command) if command.program in {
	"source", ".", "eval", "alias", "read", "mapfile", "readarray", "ln", "cp", "mv", "ssh", "autossh", "kubectl", "oc", "socat",
}

turns(command) if {
	command.program == "set"
	some word in array.slice(command.words, 1, count(command.words))
	not regex.match(`^[-+]([eux]*o?)$|^(pipefail|errexit|nounset|xtrace)$`, word.value)
}

turns(command) if {
	command.program == "printf"
	command.words[1].value == "-v"
}

phrase(effect) := sprintf("would %s %s", [effect.verb, effect.object]) if {
	lib.matches(effect, "verb", ` |^(truncate|update)$`)
	is_string(effect.object)
} else := sprintf("would delete rows of %s", [lib.text(effect, "object", "a table")]) if {
	effect.verb == "delete"
} else := sprintf("would lose data (%s)", [concat(" ", words)]) if {
	words := [word |
		some field in ["tool", "verb", "object"]
		word := effect[field]
		is_string(word)
	]
}
