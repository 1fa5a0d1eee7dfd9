# METADATA
# title: Publishing of packages
# description: |
#   Publishing and withdrawing packages, images and releases is put to a person:
#   nobody can call a publication back.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       owasp-agentic: [ASI02, ASI04]
#     if: [effect(package.publish)]
package gate.packages.publish

import data.gate.lib

# METADATA
# description: one question for each publication
ask contains {
	"reason": sprintf("publishes a package for others (%s %s); try a dry run, and let the person publish", [
		lib.text(effect, "tool", "a tool"), lib.text(effect, "verb", "publish"),
	]),
	"help": "Nobody can call a published package back, and others may depend on a withdrawn one.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("package.publish")
}
