# METADATA
# title: Tests before a push
# description: |
#   Asks before a push when files have changed since the tests last ran. The marks
#   that it sets say so, from one call to the next.
# custom:
#   gate:
#     events: [PreToolUse]
#     params:
#       tests: {type: array, default: [go test, npm test, make test, pytest, cargo test], description: how a command that tests begins}
package company.untested_push

import data.gate.lib

remember contains {"mark": "untested", "value": true} if {
	some write in lib.effects("fs.write")
	write.area == "project"
}

remember contains {"mark": "untested", "value": null} if {
	count(lib.effects("fs.write")) == 0
	some test in data.gate.params.company.untested_push.tests
	some command in lib.commands(split(test, " ")[0])
	lib.begins(command, split(test, " "))
}

ask contains "pushes changes that no test has run on; run the tests first" if {
	input.session.marks.untested
	count(lib.effects("git.push")) > 0
}
