# METADATA
# title: Disk destruction
# description: |
#   Formatting, partitioning, wiping or writing a disk directly is rejected;
#   files without an end are put to a person. Image files in the project may be
#   made.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       attack: [T1561]
#       owasp-agentic: [ASI02]
#     if: [effect(disk)]
package gate.disk.destroy

import data.gate.lib

# METADATA
# description: one denial for each disk
deny contains {
	"reason": sprintf("would %s %s and lose its data; work on an image file inside the project", [
		object.get(verbs, lib.text(effect, "verb", ""), "change"), lib.shown(effect.device),
	]),
	"help": "This destroys file systems beyond recovery.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("disk")
	effect.verb != "fill"
	not image(effect)
	not said_better(effect)
}

# METADATA
# description: a file that leaves no room for anything
ask contains {
	"reason": sprintf("would fill the disk with %s; say how much is written (head -c, dd count=)", [lib.shown(effect.device)]),
	"help": "Programs fail when nothing more can be written.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("disk")
	effect.verb == "fill"
}

# What formats a disk also writes to it: one denial says both.
said_better(effect) if {
	effect.verb == "write"
	some other in lib.effects("disk")
	other.command == effect.command
	other.device == effect.device
	lib.text(other, "verb", "write") != "write"
}

verbs := {
	"format": "format", "partition": "partition", "wipe": "wipe", "write": "write directly to", "encrypt": "encrypt",
}

# A regular file that looks like a disk.
image(effect) if {
	lib.matches(effect, "device", `^/`)
	not lib.within(effect.device, "/dev")
}

image(effect) if lib.matches(effect, "device", `^[^/].*\.(img|iso|raw|qcow2|vdi|vmdk|bin|ext4|fat|disk)$`)
