# METADATA
# title: Plans instead of applies
# description: |
#   terraform apply of an agent becomes terraform plan: people apply. Where the
#   line cannot be rewritten, a person is asked. Make it a managed policy: then it
#   comes before gate's own, which ask about an apply that they see.
# custom:
#   gate:
#     events: [PreToolUse]
#     priority: 100
#     params:
#       tools:
#         type: array
#         default: [terraform, tofu]
#         description: programs that plan and apply
package company.terraform_plan

import data.gate.lib

# METADATA
# description: only what gate can edit
modify contains {"reason": "agents plan and people apply: apply became plan", "edits": edits} if some edits in rewrites

# METADATA
# description: saved plans, and words that do not stand in the line
ask contains {"reason": "applies infrastructure; make a plan for a person to apply", "span": lib.span(command)} if {
	some command in (applies - object.keys(rewrites))
}

applies contains command if {
	some command in input.facts.shell.commands
	command.program in data.gate.params.company.terraform_plan.tools
	lib.could_be(command, "subcommand", "apply")
	lib.could_be({"words": [w.value | some w in command.words]}, "words", "apply")
}

# The edits of each command that can be rewritten.
rewrites[command] := edits if {
	some command in applies
	[command.subcommand, command.operands] == ["apply", []]
	edits := [{"span": w.span, "text": t} | some w in command.words; some p, t in changes; lib.matches(w, "value", p)]
	not null in [edit.span | some edit in edits]
}

changes := {"^apply$": "plan", "^--?auto-approve(=|$)": ""}
