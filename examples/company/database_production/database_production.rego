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

ask contains {
	"reason": sprintf("connects to the production database (%s); use the staging one", [word]),
	"span": lib.span(command),
} if {
	some command in input.facts.shell.commands
	command.program in {"psql", "mysql", "mongosh", "redis-cli", "pg_dump"}
	some word in names(command)
	regex.match(data.gate.params.company.database_production.production, word)
}

names(command) := addresses | {host |
	some option in ["host", "uri", "dbname", "url"]
	some host in lib.texts(command.options, option)
} if {
	addresses := {regex.replace(o, `//[^/@]*@`, "//") | some o in lib.texts(command, "operands")}
}
