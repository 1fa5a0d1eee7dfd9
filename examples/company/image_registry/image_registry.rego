# METADATA
# title: Container images from the company's registry
# description: Containers run from images of the company's registry. An image that is not known is asked about.
# custom:
#   gate:
#     events: [PreToolUse]
#     params:
#       prefix:
#         type: string
#         default: registry.acme.example/
#         description: what the name of an approved image begins with
package company.image_registry

import data.gate.lib

deny contains {"reason": sprintf("uses the image %s; use one below %s", [image, prefix]), "span": span} if {
	some [image, span] in images
	is_string(image)
	not startswith(image, prefix)
}

ask contains {"reason": "uses an image that is not known; write its name out", "span": span} if {
	some [null, span] in images
}

images contains [effect.image, lib.span(effect)] if some effect in lib.effects("container")

images contains [command.operands[0], lib.span(command)] if {
	some command in input.facts.shell.commands
	command.program in {"docker", "podman", "nerdctl"}
	command.subcommand in {"pull", "image pull"}
}

prefix := data.gate.params.company.image_registry.prefix
