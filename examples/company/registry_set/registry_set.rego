# METADATA
# title: Installs rewritten to the company's registry
# description: |
#   Installs by npm, pnpm and pip get the company's registry, whatever the line
#   says. An install in a text that another program runs is sent back.
# custom:
#   gate:
#     events: [PreToolUse]
#     priority: 10
#     params:
#       addresses:
#         type: object
#         default:
#           npm: https://npm.packages.acme.example/
#           pip: https://packages.acme.example/simple
#         description: the registry of npm's packages, and that of pip's
package company.registry_set

import data.gate.lib

modify contains {"reason": "packages come from the company's registry", "edits": [edit]} if {
	some command in installs
	is_array(command.span)
	edit := {"command": command.id, "options": registry[command.program]}
}

deny contains sprintf("packages come from the company's registry; call %s in the line itself", [command.program]) if {
	some command in installs
	command.span == null
}

installs contains lib.command(install) if {
	some install in lib.effects("package.install")
	install.source == "registry"
	registry[lib.command(install).program]
}

registry := {"npm": npm, "pnpm": npm, "pip": {"index-url": addresses.pip, "extra-index-url": null}}

npm := {"registry": addresses.npm}

addresses := data.gate.params.company.registry_set.addresses
