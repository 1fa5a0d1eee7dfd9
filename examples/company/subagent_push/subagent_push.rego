# METADATA
# title: Sub-agents do not push
# description: Only the main agent pushes, publishes and merges. Sub-agents hand their work over.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(git.push), effect(package.publish)]
package company.subagent_push

import data.gate.lib

deny contains {"reason": "sub-agents do not push or publish; report what is done, and the main agent pushes", "span": lib.span(e)} if {
	input.agent_id != ""
	some e in input.facts.effects
	e.kind in {"git.push", "package.publish"}
}
