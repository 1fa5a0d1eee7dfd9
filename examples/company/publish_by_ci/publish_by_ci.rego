# METADATA
# title: Publishing by the pipeline
# description: Packages and images are published on machines with the label role=ci only.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(package.publish)]
package company.publish_by_ci

import data.gate.lib

deny contains {"reason": sprintf("publishes with %s; the pipeline does that for a tag", [publish.tool]), "span": lib.span(publish)} if {
	object.get(input.gate.labels, "role", "") != "ci"
	some publish in lib.effects("package.publish")
}
