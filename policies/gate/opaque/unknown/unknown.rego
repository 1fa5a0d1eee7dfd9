# METADATA
# title: Calls that cannot be understood
# description: |
#   Gate cannot judge a call that it cannot read. Text that is no valid or plain
#   shell is rejected with the fault named; unknown programs, and code that is
#   unknown until it runs, are put to a person, and so is a call that reads files while
#   nobody knows what earlier calls left in them. This policy ignores unknown words
#   of known programs.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       aarm: [R3]
#       owasp-agentic: [ASI05]
#       owasp-mcp: [MCP05]
#     if: [unknown(syntax), unknown(characters), unknown(limit), unknown(tool), unknown(program), unknown(code), unknown(dialect), unknown(origin), effect(exec.hidden), "mcp__*"]
package gate.opaque.unknown

import data.gate.lib

# METADATA
# description: text that the agent can write in a plainer way
deny contains {
	"reason": sprintf("cannot be judged: %s; %s", [thing.why, advice]),
	"help": "Nobody can tell what this line does before it runs.",
	"span": lib.span(thing),
} if {
	some thing in input.facts.unknown
	advice := plainer[thing.kind]
}

# METADATA
# description: code that hides what it does
deny contains {
	"reason": "runs code that is hidden in an encoding; write the code in plain text",
	"help": "Attackers encode code to hide it from readers.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("exec.code")
	lib.is(effect, "decoded", true)
	lib.is(effect, "known", false)
}

# METADATA
# description: a command that is no text
deny contains {
	"reason": "cannot be judged: the command is not text; send one command line as a string",
	"help": "The tool's input does not have the form that gate knows.",
} if {
	some thing in input.facts.unknown
	thing.kind == "tool"
	some field in {"command", "cmd", "script"}
	value := input.tool_input[field]
	not is_string(value)
	not is_null(value)
}

# METADATA
# description: what only shows when it runs
ask contains {
	"reason": sprintf("cannot be judged beforehand: %s; %s", [thing.why, advice]),
	"help": "The line decides only while it runs which program or code starts.",
	"span": lib.span(thing),
} if {
	some thing in input.facts.unknown
	advice := spelt_out[thing.kind]
	not lib.is(thing, "written", true) # gate.flow.written asks about it
	not worse(thing)
	not setup(thing)
}

# METADATA
# description: a program that runs another one through an option
ask contains {
	"reason": sprintf("makes %s run another program (%s); run that program as a separate command", [
		lib.text(effect, "program", "a program"), lib.text(effect, "value", lib.text(effect, "option", "an option")),
	]),
	"help": "The line looks like a harmless program and starts another one.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("exec.hidden")
	not plain(effect)
}

# METADATA
# description: an unknown tool that takes code
ask contains {
	"reason": sprintf("hands code to the tool %s, which gate does not know; use a tool that gate knows", [input.tool_name]),
	"help": "Nobody can tell beforehand what this tool does with the code.",
} if {
	regex.match(`(?i)(^|_|[a-z])(exec|run|eval|python|repl|notebook)`, input.tool_name)
	some field in {"code", "source_code", "python", "javascript", "program", "source", "cell_source"}
	is_string(input.tool_input[field])
	count(input.facts.code) == 0
	not named(field)
}

# A program whose words stand beside it is a command line, which the facts hold.
named("program") if {
	some words in {"args", "arguments", "argv"}
	input.tool_input[words] != null
}

# Code from the network has a policy of its own.
worse(thing) if {
	some effect in lib.effects("exec.remote")
	effect.command == thing.command
}

# The classic eval "$(ssh-agent -s)": every command inside another one prints
# settings for the shell.
setup(thing) if {
	thing.why in {
		"the text that runs is not known: the output of a command",
		"the text that runs is not known: the file was written by a program",
	}
	inner := [c | some c in input.facts.shell.commands; c.depth > 0]
	count(inner) > 0
	every c in inner {
		printer(c)
	}
}

printer(c) if c.program in {"ssh-agent", "keychain", "dircolors", "lesspipe", "thefuck", "register-python-argcomplete"}

printer(c) if {
	c.program in {
		"asdf", "brew", "conda", "direnv", "docker", "docker-machine", "fnm", "fzf", "gh", "goenv", "helm", "jenv", "kubectl",
		"luarocks", "mamba", "minikube", "mise", "nodenv", "npm", "opam", "pip", "poetry", "pyenv", "rbenv", "rustup", "starship",
		"uv", "zoxide",
	}
	some word in c.words
	word.value in {
		"activate", "completion", "completions", "docker-env", "env", "generate-shell-completion", "hook", "init", "path",
		"shell.bash", "shell.zsh", "shellenv", "--bash", "--zsh", "--completion",
	}
}

plainer := {
	"syntax": "write a complete line of plain bash",
	"characters": "write the line without control and invisible characters",
	"limit": "split the line into several short ones",
}

spelt_out := {
	"program": "write the program's name out",
	"code": "write the code out and hand values over as arguments, or put it into a file of the project",
	"dialect": "write the line in plain bash",
	"origin": "ask the person to run gate doctor",
}

# Programs that are meant to be named there.
plain(effect) if {
	is_string(effect.value)
	words := split(trim_space(effect.value), " ")
	lib.base(words[0]) in {"ssh", "gzip", "pigz", "bzip2", "pbzip2", "xz", "zstd", "lz4", "cat", "less", "more", "diff", "true"}
	not regex.match(`[;&|$<>]|ProxyCommand|LocalCommand`, effect.value)
	not contains(effect.value, "`")
}
