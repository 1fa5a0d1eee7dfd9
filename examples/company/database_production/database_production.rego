# METADATA
# title: Production databases
# description: A person agrees before a client connects to a production database, even to read.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: ["Bash(psql:*)", "Bash(mysql:*)", "Bash(mongosh:*)", "Bash(redis-cli:*)", "Bash(pg_dump:*)"]
#     params:
#       production: {type: string, default: '(?i)(^|[^a-z])(prod|production|live)([^a-z]|$)', description: "hosts, RE2"}
package company.database_production

import data.gate.lib

ask contains {"reason": sprintf("connects to %s; use the staging database", [shown]), "span": lib.span(command)} if {
	some command in input.facts.shell.commands
	command.program in {"psql", "mysql", "mongosh", "redis-cli", "pg_dump"}
	some option in ["host", "dbname", "h", "u"]
	some name in array.concat(object.get(command.options, option, []), command.operands)
	shown := production(name)
}

production(null) := "a database that is not known"

# The user's name in an address does not count.
production(name) := "a production database" if {
	is_string(name)
	address := regex.replace(name, `//[^/@]*@`, "//")
	regex.match(data.gate.params.company.database_production.production, address)
}
