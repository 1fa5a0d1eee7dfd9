# METADATA
# title: Git's hooks stay on
# description: Commits and pushes go through the repository's own checks.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(git.bypass), effect(git.config)]
package company.no_verify

import data.gate.lib

deny contains {
	"reason": sprintf("skips git's hooks (git %s); run it with them and mend what they find", [lib.text(bypass, "verb", "commit")]),
	"help": "The hooks of the repository would not see this commit.",
	"span": lib.span(bypass),
} if {
	some bypass in lib.effects("git.bypass")
	lib.could_be(bypass, "what", "hooks")
}

deny contains {"reason": "moves git's hooks away; leave core.hooksPath as it is", "span": lib.span(config)} if {
	some config in lib.effects("git.config")
	lower(lib.text(config, "key", "core.hookspath")) == "core.hookspath"
}
