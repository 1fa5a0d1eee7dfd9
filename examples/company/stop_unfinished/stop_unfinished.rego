# METADATA
# title: Done means done
# description: |
#   An agent whose last words say that tests fail or work is left goes on, once.
#   A second stop is let through.
# custom:
#   gate:
#     events: [Stop]
package company.stop_unfinished

deny contains "the last message says that work is left; finish it, or say what you need from the person" if {
	input.stop_hook_active == false
	regex.match(`(?i)\b(tests? (still )?(fail|is failing|are failing)|not (yet )?implemented|left as a todo)`, input.last_assistant_message)
}
