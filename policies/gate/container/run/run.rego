# METADATA
# title: Containers that reach the machine or lose data
# description: |
#   Mounting the machine's root or system directories into a container is
#   rejected; privileged containers, the container engine's socket, the home
#   directory, and removing data volumes or everything are put to a person.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       attack: [T1611]
#       owasp-agentic: [ASI02]
#     if: [effect(container)]
package gate.container.run

import data.gate.lib

# METADATA
# description: a container that is no container
deny contains {
	"reason": sprintf("gives a container the machine's %s; mount only the project's directories", [mount]),
	"help": "Code in the container could change the machine as root.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("container")
	some mount in lib.texts(effect, "mounts")
	whole(mount)
}

# METADATA
# description: reach beyond the project
ask contains {
	"reason": sprintf("gives a container %s; mount only the project's directories, and grant no extra privileges", [what]),
	"help": "Code in the container could reach beyond it.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("container")
	some what in ["all privileges of the machine", "control over the container engine", "the home directory"]
	reaches(effect, what)
}

# METADATA
# description: data that only lives in volumes
ask contains {
	"reason": sprintf("removes %s (%s %s); keep them, or let the person remove them", [
		what, lib.text(effect, "tool", "container"), lib.text(effect, "verb", "remove"),
	]),
	"help": "Other projects may keep databases there.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("container")
	what := lost(effect)
}

# METADATA
# description: whatever a list of all of them holds
ask contains {
	"reason": sprintf("removes everything that %s %s lists; name only the one that this task created", [list.program, list.subcommand]),
	"help": "The command would remove containers and images of other projects.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("container")
	lib.is(effect, "access", "delete")
	some list in input.facts.shell.commands
	list.program == lib.command(effect).program
	list.subcommand in {"ps", "images", "volume ls", "container ls", "image ls", "network ls"}
	every option in ["filter", "follow", "last", "latest"] {
		not list.options[option]
	}
	some operand in lib.command(effect).operands
	is_null(operand)
}

whole("/")

whole(mount) if {
	some dir in ["/etc", "/usr", "/boot", "/root", "/dev", "/proc", "/sys", "/var/lib", "/home", "/bin", "/sbin", "/lib"]
	trim_right(mount, "/") == dir
}

reaches(effect, "all privileges of the machine") if lib.is(effect, "privileged", true)

reaches(effect, "control over the container engine") if socket(effect)

reaches(effect, "the home directory") if home(effect)

socket(effect) if {
	some mount in lib.texts(effect, "mounts")
	endswith(mount, ".sock")
}

home(effect) if {
	some mount in lib.texts(effect, "mounts")
	regex.match(`^(~|\$HOME|\$\{HOME\}|/home/[^/]+|/Users/[^/]+)/*$`, mount)
}

# What belongs to the project, and what is built or fetched again.
own(effect) if lib.matches(effect, "verb", `^(compose )?(down|rm|stop)$|^(image|builder|buildx|container) `)

lost(effect) := "data volumes" if {
	lib.is(effect, "volumes", true)
	not effect.verb in {"rm", "compose rm"}
}

else := "everything" if {
	lib.is(effect, "access", "delete")
	lib.is(effect, "all", true)
	not own(effect)
}
