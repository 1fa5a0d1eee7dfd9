# METADATA
# title: Production accounts in the cloud
# description: |
#   A person agrees before a cloud program works with a production profile, whether
#   an option or the environment names it. Other variables of the agent are not seen.
# custom:
#   gate:
#     events: [PreToolUse]
#     params:
#       programs: {type: array, default: [aws, gcloud, az, doctl], description: programs that talk to clouds}
#       production: {type: string, default: '(?i)\b(prod|production|live)\b', description: "profiles, projects and subscriptions, RE2"}
package company.cloud_profile

import data.gate.lib

ask contains {"reason": sprintf("uses the account %s; use the one for development", [shown]), "span": lib.span(command)} if {
	some command in input.facts.shell.commands
	command.program in data.gate.params.company.cloud_profile.programs
	some key in ["profile", "project", "subscription", "AWS_PROFILE", "CLOUDSDK_CORE_PROJECT"]
	some account in array.concat(object.get(command.options, key, []), [v | v := command.env[key]])
	shown := production(account)
}

production(null) := "that is not known"

production(account) := account if {
	lib.matches({"name": account}, "name", data.gate.params.company.cloud_profile.production)
}
