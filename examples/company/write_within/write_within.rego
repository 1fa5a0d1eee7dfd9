# METADATA
# title: Changes stay in the project
# description: |
#   Agents write and delete in the project, in temporary directories, in caches,
#   and in directories that are named here. What is not known is asked about.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(fs.write), effect(fs.delete), effect(fs.permissions)]
#     params:
#       directories:
#         type: array
#         default: []
#         description: absolute directories that agents may write in as well
package company.write_within

import data.gate.lib

deny contains {"reason": sprintf("changes %s outside the project; work inside it", [lib.target(e)]), "span": lib.span(e)} if {
	some e in input.facts.effects
	e.kind in {"fs.write", "fs.delete", "fs.permissions"}
	not e.area in {"project", "project_root", "git", "temp", "cache", "unknown"}
	not named(e)
}

ask contains {"reason": "changes a file that is not known; write its path out", "span": lib.span(e)} if {
	some e in input.facts.effects
	e.kind in {"fs.write", "fs.delete", "fs.permissions"}
	e.area == "unknown"
}

named(e) if {
	some directory in data.gate.params.company.write_within.directories
	lib.within(lib.text(e, "resolved", e.path), directory)
}
