# METADATA
# title: New dependencies
# description: A person agrees to packages that are not on the company's list.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(package.install)]
#     params:
#       known:
#         type: array
#         default: [pytest, ruff, typescript, eslint]
#         description: packages that nobody is asked about
package company.new_dependency

import data.gate.lib

ask contains {
	"reason": sprintf("adds the package %s; use what the project has, or ask for it", [name]),
	"help": "Look at its age, its authors and its licence.",
	"span": lib.span(install),
} if {
	some install in lib.effects("package.install")
	install.source != "file"
	install.from != "run" # it is run once, and the project does not get it
	some asked in install.packages
	name := named(asked)
	not name in data.gate.params.company.new_dependency.known
}

# The name without a version: left-pad@1.3, @acme/x@2, requests[socks]>=2.
named(asked) := regex.replace(asked, `(.)[@=<>~!\[; ].*$`, "$1") if is_string(asked)

named(null) := "that is not known"
