# METADATA
# title: Secrets that leave by a later call
# description: |
#   Sending, pushing, publishing and posting what came from a secret of an earlier
#   call is rejected: files carried it, or the agent was shown it and writes it
#   into this call. It is put to a person where only the directory is known.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       aarm: [R2]
#       attack: [T1048, T1567]
#       owasp-agentic: [ASI02]
#       owasp-mcp: [MCP01]
#     if: [flow(secret)]
package gate.flow.secret

import data.gate.lib

# METADATA
# description: the secret itself goes out
deny contains {
	"reason": sprintf("%s %s%s; %s", [verbs[flow.effect], what(flow), to(flow), instead[flow.how]]),
	"help": sprintf("The other side would get the secret. Replace a secret that left. %s", [story(flow)]),
	"span": lib.span(flow),
} if {
	some flow in leaving
	not lib.is(flow, "coarse", true)
}

# METADATA
# description: one of the files that go out may hold a secret
ask contains {
	"reason": sprintf("%s what may hold %s%s; name files that hold none", [verbs[flow.effect], what(flow), to(flow)]),
	"help": sprintf("Look for the secret in what would leave. %s", [story(flow)]),
	"span": lib.span(flow),
} if {
	some flow in leaving
	lib.is(flow, "coarse", true)
	flow.how != "seen"
}

# METADATA
# description: a file goes out in which the agent was shown a secret
ask contains {
	"reason": sprintf("%s a file in which the agent was shown a secret (%s)%s; have the person look at it, or leave the secret out", [verbs[flow.effect], flow.what, to(flow)]),
	"help": sprintf("The other side would get the secret. %s", [story(flow)]),
	"span": lib.span(flow),
} if {
	some flow in leaving
	lib.is(flow, "coarse", true)
	flow.how == "seen"
}

# METADATA
# description: rows about people go out that the agent was shown
ask contains {
	"reason": sprintf("%s several rows about people%s%s; ask the person who may have them", [object.get(verbs, flow.effect, "hands out"), held(flow), to(flow)]),
	"help": sprintf("They are of a database or a file with names and more. %s", [story(flow)]),
	"span": lib.span(flow),
} if {
	some flow in input.flow
	flow.origin == "secret"
	flow.what == "rows about people"
	flow.effect in {"net.send", "net.fetch", "tool", "infrastructure"}
	not near(flow)
	not of_files(flow)
}

# METADATA
# description: the clipboard is pasted into which a call copied a secret
ask contains {
	"reason": "pastes what may be the secret that this session copied; have the person paste it",
	"help": "A call of this session put a secret into the clipboard. Who gets it, depends on the page or window that is open.",
	"span": lib.span(flow),
} if {
	some flow in input.flow
	flow.origin == "secret"
	flow.what == "clipboard with a secret"
}

# METADATA
# description: gate failed about what the session was shown, so that a secret may be in what is sent
ask contains {
	"reason": sprintf("sends data%s, and gate could not keep what this session was shown before; have the person look at what is sent", [to(flow)]),
	"help": "gate failed about an output of this session, or its notes are damaged. gate log and gate doctor tell which. A new session begins anew.",
	"span": lib.span(flow),
} if {
	some flow in input.flow
	flow.origin == "secret"
	flow.effect == "net.send"
	flow.how == "sequence"
	lib.is(flow, "coarse", true)
	not said(flow)
	not near(flow)
}

# METADATA
# description: the secrets that this call lets out, by influence and not by the order of calls
leaving contains flow if {
	some flow in input.flow
	flow.origin == "secret"
	not flow.what in {"dump of a database", "dump of memory", "rows about people", "clipboard with a secret"} # other rules ask of them
	flow.how != "sequence"
	not said(flow)
	not near(flow)
	not of_files(flow)
}

verbs := {
	"git.push": "pushes",
	"net.fetch": "sends in an address",
	"net.send": "sends",
	"package.publish": "publishes",
	"tool": "hands out",
}

ends_of := {"git.push": "remote", "net.fetch": "host", "net.send": "host", "tool": "tool"}

instead := {
	"file": "keep secrets on this machine",
	"seen": "never write the value of a secret; let the program that needs it read it from its file or variable",
}

# gate.exfiltration.send judges what the effect itself tells. Of a variable it only
# asks, as it may be for that host; a value that the agent writes out is worse.
said(flow) if {
	some send in effects(flow)
	is_string(send.secret)
	not worse(flow, send)
}

worse(flow, send) if {
	flow.how == "seen"
	startswith(send.secret, "environment variable ")
}

# A service of this machine or network, which a secret may be for.
near(flow) if {
	count(effects(flow)) > 0
	every effect in effects(flow) { local(effect) }
}

local(effect) if {
	lib.is(effect, "private", true)
	not lib.is(effect, "metadata", true)
}

# A server's tool for files of this machine, by its own name: the agent decides which
# arguments a call has.
of_files(flow) if {
	flow.effect == "tool"
	some kind in ["fs.read", "fs.write"]
	count(lib.effects(kind)) > 0
	name := lower(input.tool_name)
	some word in ["file", "directory", "edit", "patch"]
	contains(name, word)
	every out in ["upload", "send", "share", "post", "attach", "publish", "gist"] {
		not contains(name, out)
	}
}

effects(flow) := [e | some e in lib.effects(flow.effect); e.command == flow.command]

what(flow) := sprintf("%s (%s)", [lib.shown(flow.path), kind(flow)]) if is_string(flow.path)

else := sprintf("a secret that the agent was shown (%s)", [flow.what]) if {
	flow.how == "seen"
	is_string(flow.what)
}

else := kind(flow)

kind(flow) := lib.text(flow, "what", "a secret")

# Where rows about people are that leave.
held(flow) := sprintf(" of %s", [lib.shown(flow.path)]) if is_string(flow.path)

else := " that the agent was shown"

# Whom the command or tool reaches, as far as it is known.
to(flow) := sprintf(" to %s", [ends[0]]) if {
	field := ends_of[flow.effect]
	ends := sort([effect[field] | some effect in effects(flow); is_string(effect[field]); not local(effect)])
}

else := ""

story(flow) := sprintf("It went by way of %s.", [concat(", ", [lib.shown(p) | some p in flow.via])]) if count(flow.via) > 0

else := sprintf("Call %s showed it to the agent.", [flow.call]) if {
	flow.how == "seen"
	is_string(flow.call)
}

else := "gate session show tells what this session read and wrote."
