# METADATA
# title: Number of calls
# description: |
#   Calls are rejected when there were too many in a minute, for one prompt, or
#   in one session. Off until a limit is set.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       owasp-agentic: [ASI08]
#     when_set: [per_minute, per_round, per_session]
#     params:
#       per_minute: {type: number, default: 0, description: calls in sixty seconds; 0 for any number}
#       per_round: {type: number, default: 0, description: calls for one prompt; 0 for any number}
#       per_session: {type: number, default: 0, description: calls in one session; 0 for any number}
package gate.budget.calls

params := data.gate.params.gate.budget.calls

# METADATA
# description: each limit for itself
deny contains {"reason": sprintf("more than %d calls in a minute; wait a minute, then do more with each call", [params.per_minute])} if {
	over(input.session.calls_last_minute, params.per_minute)
}

deny contains {
	"reason": sprintf("more than %d calls for one prompt; make no more calls and report what you have done", [params.per_round]),
	"help": "A new prompt starts a new round.",
} if {
	over(input.session.round.calls, params.per_round)
}

deny contains {
	"reason": sprintf("more than %d calls in this session; make no more calls and report what you have done", [params.per_session]),
	"help": "A new session starts the count again.",
} if {
	over(input.session.calls, params.per_session)
}

over(calls, limit) if {
	limit > 0
	calls > limit
}
