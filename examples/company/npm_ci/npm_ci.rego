# METADATA
# title: Installs that follow the lockfile
# description: |
#   npm install without a package becomes npm ci, which installs what the
#   lockfile says and changes nothing. Adding a package stays npm install.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: ["Bash(npm:*)"]
package company.npm_ci

import data.gate.lib

modify contains {
	"reason": "npm ci installs what the lockfile says; npm install is for new packages",
	"edits": [{"span": word.span, "text": "ci"}],
} if {
	some command in lib.commands("npm")
	command.subcommand in {"install", "i"}
	command.operands == []
	{"global", "package-lock-only", "dry-run"} & object.keys(command.options) == set()
	word := [w | some w in command.words; w.value == command.subcommand][0]
	is_array(word.span)
}
