# METADATA
# title: Commit messages
# description: |
#   The first line of a commit message follows Conventional Commits. A message
#   that is not known is left to the repository's commit-msg hook.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: ["Bash(git commit:*)"]
#     params:
#       pattern:
#         type: string
#         default: ^(build|chore|ci|docs|feat|fix|perf|refactor|revert|style|test)(\([a-z0-9/._-]+\))?!?:\ .{1,72}$
#         description: what the first line looks like, an RE2 expression
package company.commit_message

import data.gate.lib

deny contains {
	"reason": sprintf("the commit message begins with %q; begin with a type, as in: fix(cart): count items once", [first]),
	"span": lib.span(command),
} if {
	some command in lib.commands("git")
	command.subcommand == "commit"
	is_string(command.options.message[0])
	first := split(command.options.message[0], "\n")[0]
	not regex.match(data.gate.params.company.commit_message.pattern, first)
	not startswith(first, "fixup! ")
}

warn contains {"reason": "the commit message is not known beforehand", "span": lib.span(command)} if {
	some command in lib.commands("git")
	command.subcommand == "commit"
	null in command.options.message
}
