# METADATA
# title: Release freeze
# description: |
#   While a freeze lasts, agents push, publish and deploy nothing. Machines with
#   the label freeze=exempt, such as those of the people on call, are not bound.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(git.push), effect(package.publish), effect(infrastructure), effect(kubernetes)]
#     params:
#       from: {type: string, default: "2026-12-18T17:00:00Z", description: when the freeze begins}
#       until: {type: string, default: "2027-01-04T08:00:00Z", description: when it ends}
package company.freeze

import data.gate.lib

deny contains {
	"reason": sprintf("changes what others use during the release freeze, which ends at %s; prepare it and wait", [params.until]),
	"span": lib.span(effect),
} if {
	now := time.parse_rfc3339_ns(input.gate.now)
	now >= time.parse_rfc3339_ns(params.from)
	now < time.parse_rfc3339_ns(params.until)
	object.get(input.gate.labels, "freeze", "") != "exempt"
	some effect in input.facts.effects
	changes(effect)
}

params := data.gate.params.company.freeze

changes(effect) if effect.kind in {"git.push", "package.publish"}

changes(effect) if {
	effect.kind in {"infrastructure", "kubernetes"}
	not effect.access == "read"
}
