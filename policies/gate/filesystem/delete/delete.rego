# METADATA
# title: Destructive delete
# description: |
#   Deleting the home directory, the system, a whole project or its history is
#   rejected. Deleting in bulk outside the project is put to a person. Files of
#   the project, temporary files and caches may go.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       attack: [T1485]
#       owasp-agentic: [ASI02]
#     if: [effect(fs.delete)]
package gate.filesystem.delete

import data.gate.lib

# METADATA
# description: what no task needs
deny contains {
	"reason": sprintf("deletes %s; delete only files of this task, by their exact paths inside the project", [what]),
	"help": "Deleting this loses work or breaks the machine, and cannot be undone.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("fs.delete")
	what := forbidden(effect)
}

# METADATA
# description: what may be meant, and hurts if it is not
ask contains {
	"reason": sprintf("deletes %s; name the exact files of this task, or ask the person to delete them", [what]),
	"help": "Check the target: it does not belong to the project, or gate cannot tell it beforehand.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("fs.delete")
	not forbidden(effect)
	what := doubtful(effect)
}

forbidden(effect) := sprintf("the whole file system at %s", [lib.target(effect)]) if {
	effect.area == "root"
}

else := sprintf("the device %s", [lib.target(effect)]) if {
	effect.area == "device"
}

else := sprintf("the home directory %s", [lib.target(effect)]) if {
	effect.area == "home"
}

else := sprintf("%s of the operating system", [lib.target(effect)]) if {
	effect.area == "system"
	not remade(effect.path)
	essential(effect)
}

else := "the whole project" if {
	effect.area == "project_root"
	bulk(effect)
}

else := sprintf("%s, the history of the project", [lib.target(effect)]) if {
	effect.area == "git"
	history(effect)
}

else := sprintf("%s in the home directory", [lib.target(effect)]) if {
	precious(effect)
}

else := "a path that starts at the root when its variable is empty" if {
	bulk(effect)
	some area in effect.could_be
	area in {"root", "system", "home", "device"}
}

doubtful(effect) := sprintf("%s of the operating system", [lib.target(effect)]) if {
	effect.area == "system"
	not remade(effect.path)
}

else := sprintf("%s, a part of the project's history", [lib.target(effect)]) if {
	effect.area == "git"
	lib.of_git(effect.path)
	not passing(effect)
}

else := sprintf("%s, which lies outside the project", [lib.target(effect)]) if {
	foreign(effect)
	effect.how != "move"
	not lib.command(effect).program == "git"
}

else := "the whole project, by moving it away" if {
	effect.area == "project_root"
	effect.how == "move"
}

else := "everything in the project" if {
	effect.area == "project_root"
	effect.how != "move"
}

else := sprintf("%s, the only record of the infrastructure", [lib.target(effect)]) if {
	lib.matches(effect, "path", `\.tfstate(\.backup)?\*?$`)
}

else := "a path that is not known before the line runs" if {
	effect.area == "unknown"
	bulk(effect)
}

# Other people's trees and single files of this one's.
foreign(effect) if effect.area == "user"

foreign(effect) if {
	effect.area == "outside"
	bulk(effect)
	not built_in_container(effect)
}

# What a container that runs has built or fetched for itself.
built_in_container(effect) if {
	some step in lib.command(effect).via
	step in {"docker exec", "docker compose exec", "docker-compose exec", "podman exec", "podman compose exec", "nerdctl exec"}
	not lib.could_be(effect, "glob", true)
	lib.base(effect.path) in {
		"build", "dist", "target", "coverage", "node_modules", "__pycache__", ".cache", ".next", ".nuxt", ".turbo", ".venv",
		".pytest_cache", ".mypy_cache", ".ruff_cache",
	}
}

# More than one named file: a tree, a pattern, everything inside.
bulk(effect) if lib.could_be(effect, "recursive", true)

bulk(effect) if lib.could_be(effect, "glob", true)

# Not the single files below directories that people keep their own things in.
essential(effect) if bulk(effect)

essential(effect) if not lib.site(effect.path)

# Caches that package managers fill again.
remade(path) if {
	some dir in ["/var/cache", "/var/lib/apt/lists"]
	lib.within(path, dir)
	path != dir
}

remade("/var/lib/apt/lists")

history(effect) if lib.base(effect.path) == ".git"

history(effect) if {
	bulk(effect)
	not passing(effect)
}

# What git leaves behind when it is stopped, and files of one message.
passing(effect) if lib.matches(effect, "path", `(\.lock|_HEAD|_MSG|\.sample)$|/rebase-(merge|apply)(/|$)`)

# Directories of keys at any depth, and what people keep at the top of their home.
precious(effect) if {
	some dir in [".ssh", ".gnupg", ".password-store", ".aws", ".kube"]
	lib.within(lib.in_home(effect.path), dir)
}

precious(effect) if lib.in_home(effect.path) in {
	".config", ".local", ".local/share", ".mozilla", ".thunderbird", "Desktop", "Documents", "Downloads", "Library",
	"Music", "Pictures", "Videos", "Projects", "projects", "src", "code", "work", "repos", "go", "bin",
}
