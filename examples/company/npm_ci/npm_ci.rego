# METADATA
# title: Installs that follow the lockfile
# description: |
#   npm install without a package becomes npm ci, which installs what the
#   lockfile says and changes nothing. Adding a package stays npm install. In a
#   text that another program runs, gate cannot write ci: the call is denied.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: ["Bash(npm:*)"]
package company.npm_ci

import data.gate.lib

modify contains {"reason": reason, "edits": [{"span": verb.span, "text": "ci"}]} if {
	some verb in verbs
	is_array(verb.span)
}

deny contains {"reason": concat("; ", [reason, "run npm ci in a line of its own"])} if {
	some verb in verbs
	verb.span == null
}

reason := "npm ci installs what the lockfile says; npm install is for new packages"

verbs contains verb if {
	some command in lib.commands("npm")
	command.subcommand in {"install", "i"}
	command.operands == []
	{"global", "package-lock-only", "dry-run"} & object.keys(command.options) == set()
	verb := [w | some w in command.words; w.value == command.subcommand][0]
}
