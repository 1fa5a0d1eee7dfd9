# METADATA
# title: Code from the network
# description: |
#   Running what was just fetched from the network, unseen, and handing a shell to
#   another machine, is rejected. Installing packages from addresses instead of a
#   registry, and opening a tunnel from the internet, is put to a person.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       attack: [T1105]
#       owasp-agentic: [ASI04, ASI05]
#       owasp-mcp: [MCP05]
#     if: [effect(exec.code), effect(exec.remote), effect(exec.shell), effect(net.listen), effect(net.send), effect(package.install)]
#     params:
#       trusted_hosts:
#         type: array
#         default: []
#         description: hosts whose install scripts may run unseen
#       registries:
#         type: array
#         default: []
#         description: hosts of your own registries, with what lies below them; packages come from them over https without a question
package gate.remote_code.run

import data.gate.lib

# METADATA
# description: nobody has read what would run
deny contains {
	"reason": sprintf("runs code from %s that nobody has read; download it to a file, read it, and ask the person to run it", [
		lib.text(effect, "host", "the network"),
	]),
	"help": "The owner of that host, or of the route to it, could run code as you.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("exec.remote")
	not lib.is(effect, "via", "package")
	not trusted(effect)
}

# METADATA
# description: a shell for somebody else
deny contains {
	"reason": sprintf("hands a shell on this machine to %s; never connect a shell to the network", [
		lib.text(effect, "host", "whoever connects"),
	]),
	"help": "The other side could do everything that you can.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("exec.shell")
	not lib.is(effect, "how", "interactive")
}

# METADATA
# description: a listening shell
deny contains {
	"reason": "hands a shell on this machine to anyone who connects; never connect a shell to the network",
	"help": "The other side could do everything that you can.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("net.listen")
	lib.is(effect, "shell", true)
}

# METADATA
# description: a way in from the internet
ask contains {
	"reason": sprintf("lets the internet reach this machine (%s); ask the person to open the tunnel", [
		lib.base(lib.command(effect).program),
	]),
	"help": "Anyone with the address could reach this service, past every firewall.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("net.listen")
	lib.is(effect, "public", true)
}

# METADATA
# description: a shell that reads from somewhere unknown and writes to the network
deny contains {
	"reason": sprintf("hands a shell on this machine to %s; never connect a shell to the network", [
		lib.text(send, "host", "whoever connects"),
	]),
	"help": "The other side could do everything that you can.",
	"span": lib.span(send),
} if {
	some send in lib.effects("net.send")
	send.source == "stdin"
	some code in lib.effects("exec.code")
	code.command == lib.command(send).stdin.command
	code.source == "stdin"
	lib.is(code, "known", false)
}

# METADATA
# description: packages whose content no registry fixes
ask contains {
	"reason": sprintf("runs or installs code straight from %s; take a fixed version from the registry", [
		lib.text(effect, "host", "the network"),
	]),
	"help": "The code at an address can change from one day to the next.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("exec.remote")
	effect.via == "package"
	not trusted(effect)
}

# METADATA
# description: installs from an address
ask contains {
	"reason": sprintf("installs %s straight from an address; take a fixed version from the registry", [names]),
	"help": "Installing runs the package's code, and nothing fixes its version.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("package.install")
	effect.source == "url"
	names := concat(", ", lib.texts(effect, "packages"))
}

# METADATA
# description: installs from somebody's own registry
ask contains {
	"reason": sprintf("takes packages from %s instead of the configured registry; leave the registry as it is", [address]),
	"help": "Installing runs the package's code, and that registry chooses it.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("package.install")
	some option in ["index-url", "extra-index-url", "default-index", "index", "registry", "source", "find-links", "trusted-host"]
	some address in lib.command(effect).options[option]
	is_string(address)
	foreign(option, address)
}

foreign("trusted-host", address) if not regex.match(`^(localhost|127\.)`, address)

foreign(option, address) if {
	option != "trusted-host"
	regex.match(`^https?://`, address)
	not lib.registry_of(address, data.gate.params.gate.remote_code.run.registries)
	not regex.match(`^http://(localhost|127\.|10\.|192\.168\.|\[::1\])`, address)
	not regex.match(
		`^https://(pypi\.org|test\.pypi\.org|files\.pythonhosted\.org|download\.pytorch\.org|data\.pyg\.org|pypi\.nvidia\.com|registry\.npmjs\.org|registry\.yarnpkg\.com|npm\.pkg\.github\.com|rubygems\.org|rubygems\.pkg\.github\.com|index\.rubygems\.org|api\.nuget\.org|storage\.googleapis\.com|wheels\.vllm\.ai)(/|$)`,
		address,
	)
}

trusted(effect) if effect.host in data.gate.params.gate.remote_code.run.trusted_hosts
