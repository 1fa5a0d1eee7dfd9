# METADATA
# title: Git configuration that runs code or moves the remote
# description: |
#   Settings that make git run a program the agent names are rejected or put to a
#   person, and so is pointing a remote elsewhere.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       owasp-agentic: [ASI05]
#     if: [effect(git.config), effect(git.remote)]
package gate.git.config

import data.gate.lib

# METADATA
# description: programs that git would run, and hand credentials or content to
deny contains {
	"reason": sprintf("makes git run a program of the agent's choice (%s); run the program that you need as a separate command", [
		lib.text(setting, "key", "a setting"),
	]),
	"help": "Git would run this program later, on ordinary commands, and may hand it passwords.",
	"span": lib.span(setting),
} if {
	some setting in lib.effects("git.config")
	runs(setting)
	not milder(setting)
}

# METADATA
# description: settings that projects have reasons for
ask contains {
	"reason": sprintf("changes which code or address git uses (%s); ask the person to change git's configuration", [
		lib.text(setting, "key", "a setting"),
	]),
	"help": "Check that the value is the project's own.",
	"span": lib.span(setting),
} if {
	some setting in lib.effects("git.config")
	runs(setting)
	milder(setting)
}

# METADATA
# description: where later pushes and fetches go
ask contains {
	"reason": sprintf("points the remote %s to %s; keep this remote, and add another one if you need it", [
		lib.text(effect, "name", "of this repository"), lib.text(effect, "url", "another address"),
	]),
	"help": "Later pushes would send the project's code there.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("git.remote")
	effect.verb == "set-url"
}

runs(setting) if {
	lib.could_be(setting, "runs", true)
	not known_helper(setting)
}

# What the command lines of code hosts install.
known_helper(setting) if {
	lib.matches(setting, "key", `(?i)^credential\..*helper$`)
	lib.matches(setting, "value", `^!(/\S+/)?(gh auth|glab auth|aws codecommit) [\w ./-]+$`)
}

milder(setting) if {
	lib.matches(
		setting, "key",
		`(?i)^(core\.(hookspath|pager|editor|attributesfile)$|(pager|url|merge|difftool|mergetool|gpg)\.|remote\..*\.(push|mirror)$|(sequence\.editor|init\.templatedir)$)`,
	)
}

# Projects share configuration this way; a file that is named for one call is the
# agent's own.
milder(setting) if {
	lib.matches(setting, "key", `(?i)^include(if\..*)?\.path$`)
	lib.is(setting, "once", false)
}
