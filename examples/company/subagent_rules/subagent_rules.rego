# METADATA
# title: Rules for reviewers
# description: Reminds sub-agents that review of what a review is here.
# custom:
#   gate:
#     events: [SubagentStart]
#     matcher: .*review.*
package company.subagent_rules

context contains "Reviews here name file and line, say what breaks, and change nothing." if {
	contains(lower(input.agent_type), "review")
}
