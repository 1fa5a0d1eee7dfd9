# METADATA
# title: Style guide
# description: |
#   Tells the agent what the style guide says about a kind of file when it first
#   writes one, once for each prompt.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(fs.write)]
#     params:
#       rules:
#         type: object
#         default:
#           .go: Errors are wrapped with %w and say what was tried. Tests are tables.
#           .sql: Keywords are lower case. A migration has a way back.
#         description: what the style guide says, by ending
package company.style_guide

import data.gate.lib

context contains {"text": sprintf("Our style guide for %s files: %s", [ending, rule])} if {
	not told["company.style_guide"]
	some write in lib.effects("fs.write")
	some ending, rule in data.gate.params.company.style_guide.rules
	endswith(lib.text(write, "path", ""), ending)
}

told := object.get(input.session, ["round", "told"], {})
