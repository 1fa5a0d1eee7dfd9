# METADATA
# title: Loss of data in a database
# description: |
#   Dropping or emptying databases and tables elsewhere is rejected; doing so
#   locally, and changing every row, is put to a person. Reading and changing
#   chosen rows are no matter of this policy.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(database)]
package gate.database.destroy

import data.gate.lib

# METADATA
# description: data of a server that others use
deny contains {
	"reason": sprintf("%s on a database that is not on this machine; write a migration and let the person run it", [phrase(effect)]),
	"help": "The data is gone unless somebody has a backup.",
	"span": lib.span(effect),
} if {
	some effect in statements
	elsewhere(effect)
}

# METADATA
# description: data of a database that may be the project's own
ask contains {
	"reason": sprintf("%s; make sure that it is a test database, or keep a copy first", [phrase(effect)]),
	"help": "The data is gone unless somebody has a backup.",
	"span": lib.span(effect),
} if {
	some effect in statements
	loses(effect)
	not elsewhere(effect)
}

# METADATA
# description: a change of every row
ask contains {
	"reason": sprintf("%s without a condition, so every row of it; add a WHERE clause", [phrase(effect)]),
	"help": "The old values are gone unless somebody has a backup.",
	"span": lib.span(effect),
} if {
	some effect in statements
	effect.verb in {"delete", "update"}
	not lib.is(effect, "where", true)
}

# METADATA
# description: a server made to load code, or to write where it should not
ask contains {
	"reason": sprintf("%s; leave the server's own files and extensions to the person", [phrase(effect)]),
	"help": "The server would run or write it with its own rights.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("database")
	effect.verb in {"load extension", "write to a file"}
	effect.tool in {"redis-cli", "valkey-cli", "keydb-cli", "dragonfly-cli", "iredis"}
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
	not regex.match(`(?i)^(localhost|127\.|0\.0\.0\.0|::1|\[::1\]|/|\.|host\.docker\.internal$)`, server)
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

phrase(effect) := sprintf("would %s %s", [lib.text(effect, "verb", "change"), lib.text(effect, "object", "data")])
