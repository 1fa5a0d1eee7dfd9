# METADATA
# title: Time for one prompt
# description: |
#   The agent is told when the time for the work on one prompt is nearly over,
#   and its calls are rejected when it is over. Off until a limit is set.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       owasp-agentic: [ASI08]
#     when_set: [soft_seconds, hard_seconds, first_soft_seconds, first_hard_seconds]
#     params:
#       soft_seconds: {type: number, default: 0, description: seconds after which the agent is told to come to an end; 0 for never}
#       hard_seconds: {type: number, default: 0, description: seconds after which calls are rejected; 0 for never}
#       first_soft_seconds: {type: number, default: 0, description: the soft limit of a session's first round; 0 for the same as of later ones}
#       first_hard_seconds: {type: number, default: 0, description: the hard limit of a session's first round; 0 for the same as of later ones}
#       grace_seconds: {type: number, default: 30, description: seconds that the agent has after it was told}
#       tools: {type: array, default: [], description: tools that hand in what is done and may be used after the hard limit}
package gate.budget.time

params := data.gate.params.gate.budget.time

spent := input.session.round

# METADATA
# description: once a round
context contains {
	"text": sprintf("%d seconds of this round have passed. Finish the current step and report what you have done.", [spent.seconds]),
	"strategy": "tool_result",
} if {
	soft > 0
	spent.seconds >= soft
	not told
}

# METADATA
# description: not before the agent was told, where it is to be told
deny contains {
	"reason": sprintf("the time for this round, %d seconds, is over; make no more calls and report what you have done", [hard]),
	"help": "A new prompt starts a new round.",
} if {
	hard > 0
	spent.seconds >= hard
	warned
	not input.tool_name in params.tools
}

soft := limit(params.first_soft_seconds, params.soft_seconds)

hard := limit(params.first_hard_seconds, params.hard_seconds)

# METADATA
# description: round 0 comes before the first prompt that gate was told of, and is the first one, too
limit(first, _) := first if {
	first > 0
	spent.number <= 1
}

limit(first, later) := later if first <= 0

limit(_, later) := later if spent.number > 1

told if spent.told["gate.budget.time"]

warned if soft <= 0

warned if spent.told["gate.budget.time"] >= params.grace_seconds
