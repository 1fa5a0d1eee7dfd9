# METADATA
# title: Destructive overwrite
# description: |
#   Writing into the operating system and over keys is rejected, emptying files
#   outside the project and writing git's own files is put to a person. Files of
#   the project may be written.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       attack: [T1485]
#       owasp-agentic: [ASI02]
#     if: [effect(fs.write)]
package gate.filesystem.overwrite

import data.gate.lib

# METADATA
# description: what no task needs
deny contains {
	"reason": sprintf("writes %s; write inside the project, and let the person change the machine", [what]),
	"help": "A wrong byte here breaks the machine or loses a key.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("fs.write")
	what := forbidden(effect)
}

# METADATA
# description: what may be meant, and hurts if it is not
ask contains {
	"reason": sprintf("writes %s; write inside the project, or let the person decide", [what]),
	"help": "Check the target: it is not one of the project's own files.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("fs.write")
	not forbidden(effect)
	what := doubtful(effect)
}

forbidden(effect) := sprintf("%s, a file of the operating system", [lib.target(effect)]) if {
	effect.area == "system"
	not lib.site(effect.path)
	effect.how != "create"
}

else := sprintf("over %s, which holds keys", [lib.target(effect)]) if {
	effect.how in {"overwrite", "truncate", "edit", "move"}
	path := lib.in_home(effect.path)
	some dir in [".ssh", ".gnupg", ".password-store", ".aws/credentials", ".netrc", ".git-credentials"]
	lib.within(path, dir)
	not path in {".ssh/known_hosts", ".ssh/known_hosts.old", ".ssh/config", ".ssh/authorized_keys", ".ssh/rc"}
}

else := sprintf("unpacked files into %s, which holds keys", [lib.target(effect)]) if {
	effect.how == "create"
	effect.recursive
	path := lib.in_home(effect.path)
	some dir in [".ssh", ".gnupg"]
	lib.within(path, dir)
}

else := "to a place in the operating system when its variable is empty" if {
	some area in effect.could_be
	area in {"root", "system", "device"}
}

doubtful(effect) := sprintf("%s, outside the project and the home directory", [lib.target(effect)]) if {
	effect.area in {"root", "system"}
}

else := sprintf("nothing into %s, which loses its content", [lib.target(effect)]) if {
	effect.area in {"user", "outside", "home"}
	empties(effect)
}

else := sprintf("a whole copy or archive over %s, including start-up files", [lib.target(effect)]) if {
	effect.area == "home"
	effect.recursive
	command := lib.command(effect)
	command.program != "git" # which makes a directory of its own
	every word in command.words { # where the project lies, which is home by chance
		word.value != ".."
	}
}

else := "files all over the home directory" if {
	effect.how == "edit"
	lib.could_be(effect, "area", "home")
}

else := "files all over the home directory" if {
	effect.how == "edit"
	"home" in effect.could_be
}

else := sprintf("%s, a file that only git writes", [lib.target(effect)]) if {
	effect.area == "git"
	effect.how in {"overwrite", "truncate", "edit"}
	lib.of_git(effect.path)
	not lib.base(effect.path) in {"exclude", "COMMIT_EDITMSG", "description", "config"}
}

else := sprintf("over %s, the person's own file", [lib.target(effect)]) if {
	effect.area == "user"
	effect.how in {"overwrite", "edit"}
	not empties(effect)
	some dir in ["Desktop", "Documents", "Music", "Pictures", "Videos", ".kube/config"]
	lib.within(lib.in_home(effect.path), dir)
}

empties(effect) if effect.how == "truncate"

empties(effect) if {
	effect.how == "overwrite"
	lib.command(effect).program in {":", "true"}
}

empties(effect) if {
	effect.how == "overwrite"
	some read in lib.effects("fs.read")
	read.command == effect.command
	lib.matches(read, "path", `^/dev/(null|zero|u?random)$`)
}
