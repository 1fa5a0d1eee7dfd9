# METADATA
# title: What MCP servers tell the model
# description: |
#   A tool, prompt or resource of an MCP server whose text gives the model
#   orders, hides characters, asks for secrets or wants something kept from the
#   person is withheld; so is a request for the context of all servers and a
#   question for a password. What may have a reason is put to a person.
# custom:
#   gate:
#     events:
#       - MCPInitialize
#       - MCPToolsList
#       - MCPPromptsList
#       - MCPResourcesList
#       - MCPTemplatesList
#       - MCPSampling
#       - MCPRoots
#       - MCPNotification
#       - Elicitation
#     serves:
#       owasp-agentic: [ASI01, ASI04]
#       owasp-mcp: [MCP01, MCP03, MCP06, MCP09, MCP10]
#     params:
#       trusted:
#         type: array
#         default: []
#         description: texts that a person has looked at, as SERVER/NAME, or SERVER for all of a server
#       roots:
#         type: array
#         default: []
#         description: addresses outside of the project that servers may be told, such as file:///srv/data
package gate.mcp.definitions

# METADATA
# description: what a thing never needs
deny contains {
	"reason": sprintf("the %s %s %s", [sign.of, what(sign), says]),
	"help": help(sign),
} if {
	some sign in open
	says := never[sign.kind]
}

# METADATA
# description: what may have a reason
ask contains {
	"reason": sprintf("the %s %s %s", [sign.of, what(sign), says]),
	"help": help(sign),
} if {
	some sign in open
	says := perhaps[sign.kind]
}

# METADATA
# description: what nobody has looked through
ask contains "this message of an MCP server is larger than gate looks through" if {
	input.facts.opaque
	not server in data.gate.params.gate.mcp.definitions.trusted
}

never := {
	"instruction": "tells the model what to do, where it should describe itself",
	"hidden": "has characters or text that nobody sees",
	"concealment": "wants something kept from the person",
	"secret": "asks for a secret, or for a file with secrets",
	"context": "asks for what was said with all other servers",
	"password": "asks the person for a password or another secret",
}

perhaps := {
	"other_tool": "says when to call tools that are not this server's",
	"conversation": "asks for the conversation, or for what the model was told",
	"contents": "asks for contents of files and does not say what for",
	"outside": "lies outside of the project",
	"lookalike": "is called nearly as another server",
}

open contains sign if {
	some sign in input.facts.signs
	not trusted(sign)
	not told(sign)
}

trusted(_) if server in data.gate.params.gate.mcp.definitions.trusted

trusted(sign) if sprintf("%s/%s", [server, sign.name]) in data.gate.params.gate.mcp.definitions.trusted

told(sign) if {
	sign.kind == "outside"
	some root in data.gate.params.gate.mcp.definitions.roots
	startswith(sprintf("%s/", [trim_suffix(sign.name, "/")]), sprintf("%s/", [trim_suffix(root, "/")]))
	not contains(sign.name, "..")
}

default server := ""

server := input.mcp_server_name

what(sign) := sprintf("%q", [sign.name]) if is_string(sign.name)

else := "of an MCP server"

# What it says goes to the person alone: the model would read it.
help(sign) := sprintf("It says at %s: %q. A person who wants it puts %q under the parameter trusted of this policy.", [sign.field, sign.text, entry(sign)])

entry(sign) := sprintf("%s/%s", [server, sign.name]) if is_string(sign.name)

else := server
