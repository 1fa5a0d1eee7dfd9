# METADATA
# title: Rules of the house
# description: Tells the agent at the start of a session what it would else learn from denials.
# custom:
#   gate:
#     events: [SessionStart]
#     params:
#       rules:
#         type: array
#         default:
#           - "Work on a branch of your own and open a pull request; main is protected."
#           - "Plan infrastructure with terraform plan; people apply."
#         description: sentences for the agent
package company.session_rules

context contains {"text": concat("\n", data.gate.params.company.session_rules.rules)} if {
	input.source in {"startup", "clear", "compact"}
}
