# METADATA
# title: Branches and their owners
# description: |
#   Agents push to no branch that has owners, and are told whom to ask. data.json
#   beside the policy has the list; a star in it stands for any text.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(git.push)]
package company.branch_owners

import data.gate.lib

deny contains {"reason": sprintf("pushes to %s, which belongs to %s; open a pull request", [branch, owner]), "span": lib.span(push)} if {
	some push in lib.effects("git.push")
	some branch, owner in data.company.branch_owners.owners
	moves(push, branch)
}

ask contains {"reason": "pushes to a branch that is not known; name the branch", "span": lib.span(push)} if {
	some push in lib.effects("git.push")
	lib.unknown(push, "branches")
}

moves(push, _) if true in {push.all, push.mirror}

moves(push, branch) if {
	some pushed in lib.texts(push, "branches")
	some [pattern, name] in [[pushed, branch], [branch, pushed]]
	lib.covers(pattern, name)
}
