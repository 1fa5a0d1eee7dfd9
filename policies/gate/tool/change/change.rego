# METADATA
# title: Changes elsewhere by other tools
# description: |
#   Tools of MCP servers that delete, merge, publish or deploy are put to a
#   person, and so is a tool's push to a protected branch. This policy ignores
#   reading and ordinary writing.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       owasp-agentic: [ASI02, ASI03]
#     if: [effect(tool), effect(git.push)]
#     params:
#       verbs:
#         type: array
#         default: [merge, publish, deploy, transfer, terminate, rollback]
#         description: verbs, in addition to deleting, that a person should see
#       protected:
#         type: array
#         default: [main, master, trunk, production, prod, release, stable]
#         description: branches to which no tool pushes unseen
package gate.tool.change

import data.gate.lib

# METADATA
# description: what cannot be taken back
ask contains {
	"reason": sprintf("would %s something elsewhere with %s; let the person decide", [
		lib.text(effect, "verb", "change"), lib.text(effect, "tool", "a tool"),
	]),
	"help": "Check the tool's input: the change is not on this machine.",
} if {
	some effect in lib.effects("tool")
	lasting(effect)
}

# METADATA
# description: commits on a branch that others build on
ask contains {
	"reason": sprintf("pushes straight to %s with %s; push to a branch and open a pull request", [branch, input.tool_name]),
	"help": "The commit would be on the protected branch at once.",
} if {
	some push in lib.effects("git.push")
	push.command == null
	some branch in lib.texts(push, "branches")
	branch in data.gate.params.gate.tool.change.protected
}

lasting(effect) if {
	lib.could_be(effect, "access", "delete")
	not of_files
}

lasting(effect) if effect.verb in data.gate.params.gate.tool.change.verbs

# Deleting files of this machine is judged by the policy for that.
of_files if {
	count(lib.effects("fs.delete")) > 0
	count(lib.effects("git.push")) == 0
}
