# METADATA
# title: Packages from the company's registry
# description: |
#   Packages come from the company's registry: not from addresses, and not from
#   a registry that the line sets for itself.
# custom:
#   gate:
#     events: [PreToolUse]
#     params:
#       registries:
#         type: array
#         default: [packages.acme.example]
#         description: hosts that packages come from, with what lies below them
package company.internal_registry

import data.gate.lib

deny contains {"reason": sprintf("installs from %s; use the company's registry", [origin]), "span": lib.span(install)} if {
	some install in lib.effects("package.install")
	some origin in origins(install)
}

deny contains {"reason": "sets another registry; leave the registry as it is", "span": lib.span(setting)} if {
	some setting in lib.effects("environment")
	regex.match(`(?i)registry|index_?-?url|goproxy`, lib.text(setting, "variable", "registry"))
}

origins(install) := {"an address"} if not install.source in {"registry", "file"}

origins(install) := {host |
	host := lib.text(install, "host", "a host that is not known")
	not lib.host_in(host, data.gate.params.company.internal_registry.registries)
} if {
	install.source in {"registry", "file"} # what a file needs comes from there, too
}
