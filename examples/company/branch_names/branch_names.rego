# METADATA
# title: Names of branches
# description: Warns about a branch whose name says neither what it is nor why. Stops nothing.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: ["Bash(git switch:*)", "Bash(git checkout:*)", "Bash(git branch:*)"]
#     params:
#       pattern:
#         type: string
#         default: ^(feat|fix|chore|docs)/[a-z0-9.-]+$
#         description: what a name looks like, an RE2 expression
package company.branch_names

import data.gate.lib

warn contains {"reason": sprintf("the branch %s is not named like feat/short-words", [name]), "span": lib.span(command)} if {
	some command in lib.commands("git")
	some name in made(command)
	not regex.match(data.gate.params.company.branch_names.pattern, name)
}

made(command) := {name |
	some option in {"switch": ["create", "force-create"], "checkout": ["b", "B"]}[command.subcommand]
	some name in lib.texts(command.options, option)
}
