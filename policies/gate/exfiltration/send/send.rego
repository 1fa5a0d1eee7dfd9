# METADATA
# title: Sending of secrets and data
# description: |
#   Sending secrets to another machine is rejected. Sending dumps, archives and
#   files from outside the project, or anything to a drop host, is put to a person.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       attack: [T1048, T1567]
#       owasp-agentic: [ASI02]
#       owasp-mcp: [MCP01]
#     if: [effect(net.send)]
#     params:
#       drop_hosts:
#         type: array
#         default:
#           - transfer.sh
#           - 0x0.st
#           - file.io
#           - paste.rs
#           - ix.io
#           - termbin.com
#           - pastebin.com
#           - dpaste.com
#           - hastebin.com
#           - catbox.moe
#           - bashupload.com
#           - temp.sh
#           - webhook.site
#           - requestbin.com
#           - requestbin.net
#           - pipedream.net
#           - beeceptor.com
#           - interact.sh
#           - oast.fun
#           - oast.pro
#           - oast.live
#           - burpcollaborator.net
#           - ngrok.io
#           - ngrok-free.app
#           - gofile.io
#           - pixeldrain.com
#           - filebin.net
#           - tmpfiles.org
#           - uguu.se
#           - oshi.at
#           - workupload.com
#           - sendspace.com
#           - filetransfer.io
#           - wetransfer.com
#           - sprunge.us
#           - clbin.com
#           - rentry.co
#           - requestcatcher.com
#           - oastify.com
#           - trycloudflare.com
#           - loca.lt
#           - serveo.net
#         description: hosts, with their subdomains, that take anything from anybody
package gate.exfiltration.send

import data.gate.lib

# METADATA
# description: secrets leave the machine
deny contains {
	"reason": sprintf("sends %s to %s; keep secrets on this machine", [send.secret, host(send)]),
	"help": "The owner of that host would get the secret. Replace a secret that was sent.",
	"span": lib.span(send),
} if {
	some send in lib.effects("net.send")
	secret(send)
	not near(send)
	not one_value(send)
}

# METADATA
# description: one variable of the environment goes to a service, which may be what it is for
ask contains {
	"reason": sprintf("sends %s to %s; use a program that already holds it", [send.secret, host(send)]),
	"help": "Check that the value belongs to that service.",
	"span": lib.span(send),
} if {
	some send in lib.effects("net.send")
	one_value(send)
	not near(send)
}

# METADATA
# description: the environment or a file with secrets goes to a local service
ask contains {
	"reason": sprintf("sends %s to %s; send only the value that the service needs", [send.secret, host(send)]),
	"help": "Check that the service is yours.",
	"span": lib.span(send),
} if {
	some send in lib.effects("net.send")
	secret(send)
	near(send)
}

# METADATA
# description: data leaves the machine
ask contains {
	"reason": sprintf("sends %s to %s; ask the person to send the data", [what, host(send)]),
	"help": "Check the content and the owner of the host.",
	"span": lib.span(send),
} if {
	some send in lib.effects("net.send")
	not secret(send)
	not near(send)
	what := cargo(send)
}

# Whoever dumps a database wants data, and no login.
secret(send) if {
	is_string(send.secret)
	not send.secret in {"dump of a database", "dump of memory"}
}

one_value(send) if {
	is_string(send.secret)
	startswith(send.secret, "environment variable ")
}

near(send) if {
	lib.is(send, "private", true)
	not lib.is(send, "metadata", true)
}

host(send) := send.host if is_string(send.host)

else := sprintf("the server of %s", [input.tool_name]) if to_server

else := "a host that is not known"

to_server if startswith(input.tool_name, "mcp__")

cargo(send) := "data, which anyone can read there," if drop(send.host)

else := sprintf("%s, a dump of data,", [lib.shown(send.path)]) if lib.matches(send, "path", dump)

else := sprintf("%s, an archive,", [lib.shown(send.path)]) if {
	lib.matches(send, "path", archive)
	not lib.matches(send, "path", built)
}

else := "the whole project" if area(send) == "project_root"

else := sprintf("%s, a file of git's own,", [lib.shown(send.path)]) if area(send) == "git"

else := sprintf("%s, which lies outside the project,", [lib.shown(send.path)]) if foreign(send)

else := "data that is hidden in the address" if send.source == "encoded"

else := "a file that is not known" if {
	send.source == "file"
	not is_string(send.path)
}

else := sprintf("the output of %s", [program]) if {
	send.source == "stdin"
	program := feeder(send)
}

else := send.secret if is_string(send.secret)

drop(name) if {
	some known in data.gate.params.gate.exfiltration.send.drop_hosts
	name == known
}

drop(name) if {
	is_string(name)
	some known in data.gate.params.gate.exfiltration.send.drop_hosts
	endswith(name, sprintf(".%s", [known]))
}

dump := `(?i)\.(sql|dump|dmp|db|sqlite3?|rdb|bak|backup|pcap|pcapng|core|hprof|heapsnapshot|mdmp|gcdump|har|ab|sql\.\w+)(\.(gz|xz|zst|bz2|lz4|br|zip))?$`

archive := `(?i)\.(tar|tgz|tbz|txz|zip|7z|rar|bundle|tar\.\w+)$`

# Where builds leave what is meant to be deployed.
built := `/(build|dist|target|out|release|releases|artifacts|bin|pkg)/`

foreign(send) if area(send) in {"root", "system", "home", "user"}

# The area of the file stands in the effect of reading it.
area(send) := areas[0] if {
	areas := [read.area |
		some read in lib.effects("fs.read")
		read.path == send.path
	]
}

# Programs whose output is a pile of data.
feeder(send) := source.program if {
	some source in input.facts.shell.commands
	source.id == lib.command(send).stdin.command
	source.program in {
		"tar", "bsdtar", "zip", "7z", "cat", "find", "git", "pg_dump", "pg_dumpall", "mysqldump", "mongodump", "sqlite3",
		"gzip", "bzip2", "xz", "zstd", "base64", "openssl", "gpg", "dd", "redis-cli", "kubectl", "docker",
	}
}
