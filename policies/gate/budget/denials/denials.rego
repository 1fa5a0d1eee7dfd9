# METADATA
# title: Number of denials
# description: |
#   The turn ends when too many calls were rejected: in a row, for one prompt, or
#   the same call again and again. Off until a limit is set.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       owasp-agentic: [ASI08, ASI10]
#     when_set: [in_a_row, per_round, same_call]
#     params:
#       in_a_row: {type: number, default: 0, description: rejected calls without one between them that was not; 0 for any number}
#       per_round: {type: number, default: 0, description: rejected calls for one prompt; 0 for any number}
#       same_call: {type: number, default: 0, description: rejections of one and the same call for one prompt; 0 for any number}
package gate.budget.denials

params := data.gate.params.gate.budget.denials

# METADATA
# description: each limit for itself
halt contains {
	"reason": sprintf("%d calls in a row were rejected; stop, and ask the person what to do instead", [input.session.consecutive_denials]),
	"help": "A new prompt starts a new round.",
} if {
	reached(input.session.consecutive_denials, params.in_a_row)
}

halt contains {
	"reason": sprintf("%d calls were rejected for this prompt; stop, and ask the person what to do instead", [input.session.round.denials]),
	"help": "A new prompt starts a new round.",
} if {
	reached(input.session.round.denials, params.per_round)
}

halt contains {
	"reason": sprintf("this same call was rejected %d times; stop, and ask the person what to do instead", [input.session.denials_of_this_call]),
	"help": "A new prompt starts a new round.",
} if {
	reached(input.session.denials_of_this_call, params.same_call)
}

reached(denials, limit) if {
	limit > 0
	denials >= limit
}
