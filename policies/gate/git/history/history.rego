# METADATA
# title: Loss of recorded history
# description: |
#   Rewriting every commit, dropping unmerged branches, stashes and the reflog is
#   put to a person. Rebasing and amending are ordinary work.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       owasp-agentic: [ASI02]
#     if: [effect(git.history)]
package gate.git.history

import data.gate.lib

# METADATA
# description: what cannot be had back from this clone
ask contains {
	"reason": sprintf("drops recorded work (git %s%s); keep it under another branch name, or let the person decide", [
		lib.text(effect, "verb", "command"), of(effect),
	]),
	"help": "Git deletes unreferenced commits for good.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("git.history")
	not ordinary(effect)
}

of(effect) := sprintf(" of %s", [effect.target]) if is_string(effect.target)

else := ""

# What the reflog keeps, or git itself refuses when something would be lost.
ordinary(effect) if effect.verb in {"rebase", "amend", "tag delete"}

ordinary(effect) if {
	effect.verb == "branch delete"
	lib.is(effect, "force", false)
}
