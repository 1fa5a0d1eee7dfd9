# METADATA
# title: Database migrations
# description: A person agrees before a migration runs. Showing its state is free.
# custom:
#   gate:
#     events: [PreToolUse]
#     params:
#       commands:
#         type: array
#         default:
#           - python manage.py migrate
#           - python3 manage.py migrate
#           - alembic upgrade
#           - alembic downgrade
#           - flyway migrate
#           - rails db:migrate
#           - rake db:migrate
#           - npm run migrate
#           - make migrate
#         description: how a command that migrates begins
package company.migrations

import data.gate.lib

ask contains {"reason": sprintf("migrates the database (%s); show the plan first", [begin]), "span": lib.span(command)} if {
	some begin in data.gate.params.company.migrations.commands
	some command in input.facts.shell.commands
	lib.begins(command, split(begin, " "))
}

ask contains {"reason": "migrates the database; show the plan first", "span": lib.span(effect)} if {
	some effect in lib.effects("database")
	startswith(lib.text(effect, "verb", ""), "migrate")
}
