# METADATA
# title: Unknown code that an agent wrote
# description: |
#   An agent writes a file in one call and has a program run it in a later one: a Makefile,
#   a conftest.py, a script. What the file does is judged as if it were typed, by the other
#   policies. Code in it that nobody knows before it runs is put to a person.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       aarm: [R2]
#       owasp-agentic: [ASI05]
#     if: [unknown(code)]
package gate.flow.written

import data.gate.lib

# METADATA
# description: what only shows when the file runs
ask contains {
	"reason": sprintf("runs what an agent wrote, and it cannot be judged beforehand: %s; write plainly what it runs", [thing.why]),
	"help": sprintf("A call before this one wrote %s. Read it before it runs.", [files]),
	"span": lib.span(thing),
} if {
	some thing in input.facts.unknown
	lib.is(thing, "written", true)
	not fetched(thing)
}

# Code from the network has a policy of its own.
fetched(thing) if {
	some effect in lib.effects("exec.remote")
	effect.command == thing.command
}

files := concat(", ", written) if count(written) > 0

else := "the text"

written := {flow.path |
	some flow in input.flow
	flow.origin == "written"
	is_string(flow.path)
}
