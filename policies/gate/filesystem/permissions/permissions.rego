# METADATA
# title: Dangerous permissions
# description: |
#   Changing modes or owners of the system or the whole home directory, and
#   opening keys to others, is rejected. Opening a tree to everybody is put to a
#   person. Modes of the project's own files may change.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       attack: [T1222.002]
#       owasp-agentic: [ASI03]
#     if: [effect(fs.permissions)]
package gate.filesystem.permissions

import data.gate.lib

# METADATA
# description: what no task needs
deny contains {
	"reason": sprintf("changes permissions of %s; give single files of the project the mode they need, such as u+x", [what]),
	"help": "Wrong modes and owners break the machine or open it to every account, and are hard to undo.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("fs.permissions")
	what := forbidden(effect)
}

# METADATA
# description: what may be meant, and hurts if it is not
ask contains {
	"reason": sprintf("changes permissions of %s; give single files of the project the mode they need, such as u+x", [what]),
	"help": "Check which files are opened, and to whom.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("fs.permissions")
	not forbidden(effect)
	what := doubtful(effect)
}

forbidden(effect) := "the whole file system" if {
	effect.area == "root"
}

else := sprintf("%s, a part of the operating system", [lib.target(effect)]) if {
	effect.area in {"system", "device"}
	grave(effect)
}

else := sprintf("the home directory %s", [lib.target(effect)]) if {
	effect.area == "home"
	grave(effect)
}

else := sprintf("%s, which holds keys, for others", [lib.target(effect)]) if {
	private(effect.path)
	opens(effect)
}

doubtful(effect) := sprintf("%s, outside the project", [lib.target(effect)]) if {
	effect.area in {"system", "device", "home"}
}

else := sprintf("%s, which holds keys, in an unknown way", [lib.target(effect)]) if {
	private(effect.path)
	lib.unknown(effect, "mode")
}

else := sprintf("everything below %s, outside the project", [lib.target(effect)]) if {
	effect.area in {"user", "outside"}
	lib.is(effect, "recursive", true)
	not private(effect.path)
}

else := sprintf("%s so that every account can write it", [lib.target(effect)]) if {
	effect.area in {"user", "outside", "project_root", "git"}
	lib.is(effect, "world_writable", true)
	not lib.is(effect, "recursive", true)
}

else := sprintf("everything below %s so that every account can write it", [lib.target(effect)]) if {
	effect.area in {"project", "project_root", "git"}
	lib.is(effect, "world_writable", true)
	lib.is(effect, "recursive", true)
}

else := "a path that is not known before the line runs" if {
	effect.area == "unknown"
	lib.is(effect, "recursive", true)
}

grave(effect) if lib.could_be(effect, "recursive", true)

grave(effect) if lib.is(effect, "world_writable", true)

grave(effect) if {
	effect.area == "system"
	not lib.site(effect.path)
}

grave(effect) if effect.mode in {"0", "000", "0000", "a-rwx", "-rwx", "a=", "ugo-rwx", "ugo="}

private(path) if {
	below := lib.in_home(path)
	some dir in [".ssh", ".gnupg", ".password-store", ".aws", ".kube"]
	lib.within(below, dir)
	not endswith(path, ".pub")
	not below in {".ssh/known_hosts", ".ssh/config", ".aws/config"}
}

# Read by others: 644, a+r, o=r, +r, u=rw,go=r.
opens(effect) if lib.is(effect, "world_writable", true)

opens(effect) if {
	lib.matches(effect, "mode", `^[0-7]{3,4}$`)
	not endswith(effect.mode, "00")
}

opens(effect) if lib.matches(effect, "mode", `(^|,)([ugoa]*[goa][ugoa]*)?[+=][rwxX]+(,|$)`)
