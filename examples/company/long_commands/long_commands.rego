# METADATA
# title: Time for long commands
# description: |
#   Builds and tests get ten minutes instead of the agent's default, and no
#   command gets more.
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Bash
#     params:
#       long: {type: array, default: [make, npm, go, cargo, docker, pytest], description: programs that take their time}
#       milliseconds: {type: number, default: 600000, description: how long they may take}
package company.long_commands

modify contains {"reason": "long commands get ten minutes", "input": {"timeout": limit}} if {
	not "timeout" in object.keys(input.tool_input)
	not input.tool_input.run_in_background
	some command in input.facts.shell.commands
	command.program in data.gate.params.company.long_commands.long
}

modify contains {"reason": "no command gets more than ten minutes", "input": {"timeout": limit}} if {
	input.tool_input.timeout > limit
}

limit := data.gate.params.company.long_commands.milliseconds
