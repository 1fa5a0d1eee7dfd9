# METADATA
# title: Tests and builds without a question
# description: |
#   A line that only tests, builds or looks at the project goes ahead without the
#   agent asking. Whatever else the line does, the agent's own rules decide.
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Bash
#     params:
#       commands:
#         type: array
#         default: [go test, go build, go vet, npm test, npm run lint, make test, pytest, cargo test, git status, git diff]
#         description: how a command that needs no question begins
#       rest:
#         type: string
#         default: ^(-v|-q|-race|-short|-run=[\w/^$]+|\./([\w-]+/)*(\.\.\.|[\w-]+(\.\w+)*)?)$
#         description: what each further word looks like, an RE2 expression; options can do anything, so list them
package company.allow_tests

import data.gate.lib

allow contains "tests, builds or looks at the project" if {
	count(input.facts.shell.commands) > 0
	count(input.facts.effects) == 0
	every command in input.facts.shell.commands {
		plain(command)
	}
}

plain(command) if {
	some begin in data.gate.params.company.allow_tests.commands
	lib.begins(command, split(begin, " "))
	every word in array.slice(command.words, count(split(begin, " ")), count(command.words)) {
		lib.matches(word, "value", data.gate.params.company.allow_tests.rest)
	}
	lib.within(command.cwd, input.cwd)
	[command.via, command.env, command.path] == [[], {}, null]
}
