# METADATA
# title: Push to a protected branch
# description: |
#   Agents change protected branches by pull request only, whatever tool they use.
#   A push of which nobody can say beforehand where it goes is asked about.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(git.push)]
#     params:
#       branches:
#         type: array
#         default: [main, master, release/*]
#         description: branches that nobody pushes to; a star stands for any text
package company.push_protected

import data.gate.lib

# METADATA
# description: a protected branch, or all there are
deny contains {"reason": sprintf("pushes to %s; open a pull request instead", [branch]), "span": lib.span(push)} if {
	some push in lib.effects("git.push")
	some branch in data.gate.params.company.push_protected.branches
	moves(push, branch)
}

# METADATA
# description: a branch that only shows when the line runs
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
