# METADATA
# title: Programs that wait for typed input
# description: |
#   Some agents type into a running program without asking a hook. For them, a
#   shell or an interpreter without a command or file to run is rejected, because
#   no hook would see its input. For every agent, a call that types into another
#   terminal or program is put to a person.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       owasp-agentic: [ASI05]
#     if: ["Bash(bash:*)", "Bash(sh:*)", "Bash(zsh:*)", "Bash(dash:*)", "Bash(ksh:*)", "Bash(fish:*)", "Bash(python:*)", "Bash(python3:*)", "Bash(ipython:*)", "Bash(node:*)", "Bash(irb:*)", "Bash(perl:*)", "Bash(lua:*)", "Bash(psql:*)", "Bash(mysql:*)", "Bash(ssh:*)", "Bash(su:*)", "Bash(sudo:*)", "Bash(tmux:*)", "Bash(screen:*)", "Bash(script:*)", "effect(process)"]
#     params:
#       agents:
#         type: array
#         default: [codex]
#         description: agents that type into running programs unseen
package gate.process.interactive

import data.gate.lib

# METADATA
# description: one denial for each such program
deny contains {
	"reason": sprintf("%s would wait for typed input that no hook sees; run one command at a time, as %s", [command.program, instead(command)]),
	"help": "This agent types into running programs without asking its hooks.",
	"span": lib.span(command),
} if {
	input.agent in data.gate.params.gate.process.interactive.agents
	some command in input.facts.shell.commands
	waits(command)
}

# METADATA
# description: one question for each program that is typed into
ask contains {
	"reason": sprintf("types into %s, where no policy sees what it does; run the command itself", [place(effect)]),
	"help": "A program that types can answer questions that are meant for you, and give commands to a shell that gate does not see.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("process")
	lib.is(effect, "verb", "type")
}

place(effect) := "another program" if is_null(effect.target)

place(effect) := effect.target if is_string(effect.target)

# A shell or an interpreter that gets nothing to run.
waits(command) if {
	command.program in interpreters
	is_null(command.stdin)
	count(command.operands) == 0
	count(given(command)) == 0
}

# One that is told to go on with what is typed.
waits(command) if {
	command.program in interpreters
	is_null(command.stdin)
	some option in ["i", "interactive"]
	option in object.keys(command.options)
}

# A client of a database that gets no statement.
waits(command) if {
	command.program in ["psql", "mysql"]
	is_null(command.stdin)
	count({o | some o in ["command", "file", "execute", "list", "version", "help"]; o in object.keys(command.options)}) == 0
}

# A shell on another machine.
waits(command) if {
	command.program == "ssh"
	is_null(command.stdin)
	count(command.operands) == 1
	not "N" in object.keys(command.options)
}

# A shell of somebody else.
waits(command) if {
	some effect in lib.effects("system")
	effect.command == command.id
	lib.is(effect, "what", "a shell of the administrator")
	is_null(command.stdin)
}

waits(command) if {
	command.program == "su"
	is_null(command.stdin)
	count({o | some o in ["command", "c", "session-command"]; o in object.keys(command.options)}) == 0
}

# A terminal within the terminal.
waits(command) if {
	command.program in ["tmux", "screen", "script"]
	command.subcommand in {null, "new", "new-session", "attach", "attach-session", "a"}
	count([o | some o in command.operands; task(o)]) == 0
	count({o | some o in ["command", "version", "V", "help", "ls", "list"]; o in object.keys(command.options)}) == 0
}

# An operand that may say what to run: a device is where script writes to.
task(operand) if is_null(operand)

task(operand) if {
	is_string(operand)
	not startswith(operand, "/dev/")
}

interpreters := {
	"bash", "sh", "zsh", "dash", "ksh", "fish", "python", "python3", "ipython", "node", "irb", "perl", "lua",
}

# Options that say what to run, or that nothing runs.
given(command) := {o |
	some o in ["command", "c", "e", "E", "eval", "p", "print", "m", "version", "V", "v", "help", "h", "check"]
	o in object.keys(command.options)
}

instead(command) := object.get(forms, command.program, sprintf("%s -c COMMAND", [command.program]))

forms := {
	"ssh": "ssh HOST COMMAND", "sudo": "sudo COMMAND", "node": "node -e CODE", "perl": "perl -e CODE", "lua": "lua -e CODE", "irb": "ruby -e CODE",
	"mysql": "mysql -e STATEMENT", "psql": "psql -c STATEMENT", "tmux": "a separate command", "screen": "a separate command",
	"script": "a separate command",
}
