# METADATA
# title: Protected files
# description: |
#   A person agrees to changes of files that decide who reviews, what the pipeline
#   does, and which versions are installed.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(fs.write), effect(fs.delete)]
#     params:
#       files:
#         type: array
#         default:
#           - "**/CODEOWNERS"
#           - "**/.github/workflows"
#           - "**/.github/workflows/**"
#           - "**/.gitlab-ci.yml"
#           - "**/package-lock.json"
#           - "**/go.sum"
#         description: globs of absolute paths; a double star stands for any number of directories
package company.protected_files

import data.gate.lib

ask contains {"reason": sprintf("changes %s, which is protected; say why in the pull request", [lib.target(e)]), "span": lib.span(e)} if {
	some e in input.facts.effects
	e.kind in {"fs.write", "fs.delete"}
	protected(e)
}

protected(e) if {
	some path in lib.texts({"paths": [e.path, e.resolved]}, "paths")
	some pattern in data.gate.params.company.protected_files.files
	glob.match(lower(pattern), ["/"], lower(path))
}
