package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// families are the kinds of policies that companies write: three of five
// concern Bash, so that a Bash call is the worst case and not a friendly one.
// NAME and N are filled in; N makes each policy another one.
var families = []string{
	// a command that nobody runs
	`# METADATA
# title: Command N
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Bash
package bench.NAME

deny contains {"reason": sprintf("%s must not be run here", [words[0]]), "id": "command_N"} if {
	words := split(input.tool_input.command, " ")
	forbidden(words[0])
	some word in words
	startswith(word, "-")
	contains(word, "rN")
}

forbidden(name) if name in {"toolN", "scriptN", "rm"}
`,
	// a path that nobody touches
	`# METADATA
# title: Path N
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Bash|Write|Edit
package bench.NAME

deny contains {"reason": sprintf("%s is not for agents", [path])} if {
	some path in paths
	glob.match("/srv/secret-N/**", ["/"], path)
}

paths contains input.tool_input.file_path

paths contains word if {
	some word in split(input.tool_input.command, " ")
	startswith(word, "/")
}
`,
	// a host that nobody talks to
	`# METADATA
# title: Host N
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Bash|WebFetch
package bench.NAME

deny contains {"reason": "host N is internal"} if {
	regex.match(` + "`(^|[/@.])internal-N\\.example\\.com([:/]|$)`" + `, text)
}

text := object.get(input.tool_input, "url", object.get(input.tool_input, "command", ""))
`,
	// a tool of a server
	`# METADATA
# title: Server N
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: mcp__.*
package bench.NAME

deny contains {"reason": sprintf("%s changes production", [input.tool_name])} if {
	startswith(input.tool_name, "mcp__serverN__")
	some verb in ["create", "update", "delete"]
	endswith(input.tool_name, verb)
	object.get(input.tool_input, "environment", "production") == "production"
}
`,
	// a file that holds secrets
	`# METADATA
# title: Secret N
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Read|Write|Edit
package bench.NAME

deny contains {"reason": sprintf("%s holds secrets", [input.tool_input.file_path])} if {
	parts := split(input.tool_input.file_path, "/")
	some part in parts
	part in {".vaultN", ".secretsN"}
}

ask contains {"reason": "long file N"} if count(object.get(input.tool_input, "content", "")) > 100000 + N
`,
}

// decider asks all policies, for programs that know nothing of gate.
const decider = `package bench_all

deny contains reason if {
	some name
	some member in data.bench[name].deny
	reason := object.get(member, "reason", "")
}
`

// everyone denies the call that is measured, whatever the number of policies.
const everyone = `# METADATA
# title: Deletes everything
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Bash
package bench.everything

deny contains {"reason": "deletes everything"} if {
	regex.match("^rm +-rf +/( |$)", input.tool_input.command)
}
`

// beyond is a policy that calls what gate-hook leaves to OPA.
const beyond = `# METADATA
# title: A query that is none
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Bash
package bench_beyond.graphql

deny contains {"reason": "not a query"} if {
	not graphql.is_valid(input.tool_input.command, "type Query { a: Int }")
	startswith(input.tool_input.command, "graphql ")
}
`

// writePolicies writes n policies into dir, one of which denies the harmful
// call, as gate takes them.
func writePolicies(dir string, n int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text := map[string]string{"everything": everyone}
	for i := 1; i < n; i++ {
		name := fmt.Sprintf("p%05d", i)
		fill := strings.NewReplacer("NAME", name, "N", fmt.Sprint(i))
		text[name] = fill.Replace(families[i%len(families)])
	}
	for name, rego := range text {
		if err := os.WriteFile(filepath.Join(dir, name+".rego"), []byte(rego), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// The calls that are measured.
const (
	harmful   = `{"session_id":"b","transcript_path":"/home/dev/t.jsonl","cwd":"/home/dev/project","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /"},"tool_use_id":"t1"}`
	harmless  = `{"session_id":"b","transcript_path":"/home/dev/t.jsonl","cwd":"/home/dev/project","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"go test ./... | tail -n 20"},"tool_use_id":"t2"}`
	unrelated = `{"session_id":"b","transcript_path":"/home/dev/t.jsonl","cwd":"/home/dev/project","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"TodoWrite","tool_input":{"todos":[]},"tool_use_id":"t3"}`
)
