# METADATA
# title: Namespaces of production clusters
# description: |
#   On a production cluster agents change their team's namespaces only. Where
#   cluster or namespace is not known, a person is asked. Reading is free.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(kubernetes)]
#     params:
#       namespaces:
#         type: object
#         default: {prod-*: [previews, shop-*], live: []}
#         description: the namespaces that agents change, by production context; a star stands for any text
package company.production_namespaces

import data.gate.lib

deny contains {"reason": sprintf("changes %s of the cluster %s; stay in %v", [place, change.context, free]), "span": lib.span(change)} if {
	some [change, place, free] in changes
	not null in [place, change.context]
	not true in {lib.covers(pattern, place) | some pattern in free}
}

ask contains {"reason": "changes a cluster, namespace or kind that is not known; name them", "span": lib.span(change)} if {
	some [change, place, _] in changes
	null in array.concat([place, change.context], change.resources)
}

changes contains [change, place_of(change), free] if {
	some change in lib.effects("kubernetes")
	change.access != "read"
	some context, free in data.gate.params.company.production_namespaces.namespaces
	lib.covers(context, lib.text(change, "context", context))
}

place_of(change) := "all namespaces" if lib.is(change, "cluster_wide", true)

else := change.namespace
