package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// families are the kinds of policies that companies write, with what they write
// around them: three of five concern Bash, so that a Bash call is the worst case and
// not a friendly one. NAME and N are filled in; N makes each policy another one.
var families = []string{
	// a command that nobody runs
	`# METADATA
# title: Command N
# description: Agents leave toolN and its kin to the people on call.
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Bash
package bench.NAME

import rego.v1

# METADATA
# title: toolN with a flag
# description: A flag has it change something.
# custom:
#   severity: high
deny contains {"reason": sprintf("%s must not be run here", [name]), "id": "command_N"} if {
	forbidden(name)
	some word in words
	changes(word)
}

# METADATA
# description: what nobody runs
forbidden(name) if name in {"toolN", "scriptN", "rm"}

# METADATA
# description: options that change something
changes(word) if {
	startswith(word, "-")
	contains(word, "rN")
}

changes(word) if word == "--applyN"

name := words[0]

words := split(trim_space(input.tool_input.command), " ")
`,
	// a path that nobody touches
	`# METADATA
# title: Path N
# description: What lies in /srv/secret-N belongs to another team.
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Bash|Write|Edit
package bench.NAME

import rego.v1

# METADATA
# title: Path N is touched
# description: By a tool for files, or named on a command line.
# custom:
#   severity: medium
deny contains {"reason": sprintf("%s is not for agents", [path])} if {
	some path in paths
	guarded(path)
	not shared(path)
}

# METADATA
# description: what belongs to the other team
guarded(path) if glob.match("/srv/secret-N/**", ["/"], path)

guarded(path) if glob.match("/backup/*/secret-N/**", ["/"], path)

# METADATA
# description: what it shares
shared(path) if endswith(path, "/README.md")

# METADATA
# description: what the call names
paths contains input.tool_input.file_path

paths contains word if {
	some word in split(input.tool_input.command, " ")
	startswith(word, "/")
}
`,
	// a host that nobody talks to
	`# METADATA
# title: Host N
# description: internal-N is for machines, and for nobody who acts for a person.
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Bash|WebFetch
package bench.NAME

import rego.v1

# METADATA
# title: internal-N is named
# description: In an address, or anywhere on a command line.
# custom:
#   severity: high
deny contains {"reason": sprintf("host %d is internal: %s", [N, substring(text, 0, 40)])} if {
	regex.match(` + "`(^|[/@.])internal-N\\.example\\.com([:/]|$)`" + `, text)
	not documented(text)
}

# METADATA
# description: what talks about it only
documented(text) if startswith(text, "https://docs-N.example.com/")

# METADATA
# description: the address or the line
text := input.tool_input.url

text := input.tool_input.command
`,
	// a tool of a server
	`# METADATA
# title: Server N
# description: Whoever uses the tools of serverN changes production.
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: mcp__.*
package bench.NAME

import rego.v1

# METADATA
# title: A tool of serverN
# description: One that changes something, unless it says that it is a test.
# custom:
#   severity: critical
deny contains {"reason": sprintf("%s changes production", [input.tool_name])} if {
	startswith(input.tool_name, "mcp__serverN__")
	changes(input.tool_name)
	environment == "production"
}

# METADATA
# description: tools by their verbs
changes(name) if {
	some verb in ["create", "update", "delete"]
	endswith(name, verb)
}

# METADATA
# description: where the call is made; production if it does not say
default environment := "production"

environment := lower(input.tool_input.environment)
`,
	// a file that holds secrets
	`# METADATA
# title: Secret N
# description: What lies in .vaultN is read by programs and by nobody else.
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Read|Write|Edit
package bench.NAME

import rego.v1

# METADATA
# title: A secret is named
# description: By the directory that it lies in.
# custom:
#   severity: critical
deny contains {"reason": sprintf("%s holds secrets", [input.tool_input.file_path])} if {
	some part in split(input.tool_input.file_path, "/")
	secret(part)
}

# METADATA
# title: A long file
# description: Nobody reads what an agent writes at such length.
# custom:
#   severity: low
ask contains {"reason": "long file N"} if length > 100000 + N

# METADATA
# description: directories of secrets
secret(part) if part in {".vaultN", ".secretsN"}

secret(part) if regex.match("^\\.keysN(-[a-z]+)?$", part)

length := count(object.get(input.tool_input, "content", ""))
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
		if err := os.WriteFile(filepath.Join(dir, name+".rego"), []byte(ofTexts(rego)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// ofTexts has a policy look at command lines that are texts only: no machine would put one
// in force that fails about a number.
func ofTexts(rego string) string {
	const line = "input.tool_input.command"
	if !strings.Contains(rego, line) {
		return rego
	}
	return strings.ReplaceAll(rego, line, "shell_line") + "\nshell_line := " + line + " if is_string(" + line + ")\n"
}

// The calls that are measured.
const (
	harmful   = `{"session_id":"b","transcript_path":"/home/dev/t.jsonl","cwd":"/home/dev/project","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /"},"tool_use_id":"t1"}`
	harmless  = `{"session_id":"b","transcript_path":"/home/dev/t.jsonl","cwd":"/home/dev/project","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"go test ./... | tail -n 20"},"tool_use_id":"t2"}`
	unrelated = `{"session_id":"b","transcript_path":"/home/dev/t.jsonl","cwd":"/home/dev/project","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"TodoWrite","tool_input":{"todos":[]},"tool_use_id":"t3"}`
)
