# METADATA
# title: Signed commits
# description: Commits and tags stay signed.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(git.bypass), effect(git.config), "Bash(git:*)"]
package company.signed_commits

import data.gate.lib

deny contains {"reason": sprintf("makes commits or tags without a signature (%s); leave signing on", [how]), "span": span} if {
	some [span, how] in unsigned
}

unsigned contains [lib.span(bypass), "an option"] if {
	some bypass in lib.effects("git.bypass")
	bypass.what == "signing"
}

unsigned contains [lib.span(config), config.key] if {
	some config in lib.effects("git.config")
	lower(lib.text(config, "key", "")) in {"commit.gpgsign", "tag.gpgsign"}
	lower(lib.text(config, "value", "false")) != "true"
}

unsigned contains [lib.span(command), setting] if {
	some command in lib.commands("git")
	some setting in lib.texts(command.options, "c")
	regex.match(`(?i)^(commit|tag)\.gpgsign=(false|no|off|0|)$`, setting)
}
