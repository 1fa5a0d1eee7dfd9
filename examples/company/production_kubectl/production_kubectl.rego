# METADATA
# title: Production clusters
# description: |
#   A person agrees before anything reaches a production cluster, by kubectl,
#   helm or another program. A cluster that is not known may be production.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(kubernetes)]
#     params:
#       production:
#         type: string
#         default: (?i)\b(prod|production|live)\b
#         description: contexts that are production, an RE2 expression
#       free:
#         type: array
#         default: []
#         description: access that nobody is asked about, such as read
package company.production_kubectl

import data.gate.lib

ask contains {
	"reason": sprintf("reaches the cluster %s (%s); use the staging cluster", [lib.text(effect, "context", "that is current"), why]),
	"help": "Check cluster, namespace and command.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("kubernetes")
	not effect.access in data.gate.params.company.production_kubectl.free
	why := production(effect)
}

production(effect) := "production" if {
	lib.matches(effect, "context", data.gate.params.company.production_kubectl.production)
} else := "which one is not known" if lib.unknown(effect, "context")
