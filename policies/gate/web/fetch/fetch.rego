# METADATA
# title: Fetches that reach inside
# description: |
#   Asking a cloud's metadata service, which hands out credentials, and reading
#   local files through a web tool is rejected; passwords and tokens in addresses
#   are put to a person.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       attack: [T1552.005]
#       owasp-agentic: [ASI02]
#     if: [effect(net.fetch), effect(net.send), unknown(tool), WebFetch, web_fetch, webfetch, fetch, http_request, read_url_content, "mcp__*"]
package gate.web.fetch

import data.gate.lib

# METADATA
# description: credentials of the machine
deny contains {
	"reason": sprintf("asks the metadata service %s, which hands out the machine's credentials; use the credentials that are set up", [
		lib.text(effect, "host", "of the cloud"),
	]),
	"help": "The holder of these credentials can act as this machine.",
	"span": lib.span(effect),
} if {
	some kind in ["net.fetch", "net.send"]
	some effect in lib.effects(kind)
	metadata(effect)
}

# METADATA
# description: local files by way of a web tool
deny contains {
	"reason": "reads a local file through a web tool; read files of the project with the file tool",
	"help": "A web tool passes file content to a model, past the rules for files.",
} if {
	some url in addresses
	startswith(lower(trim_space(url)), "file:")
	not startswith(url, sprintf("file://%s/", [input.cwd]))
}

# METADATA
# description: secrets in an address stand in logs
ask contains {
	"reason": "puts a password or token into an address, where servers log it; let a program that already holds it send it in a header",
	"help": "Check the address for secrets.",
} if {
	some url in addresses
	confidential(url)
}

# METADATA
# description: hosts that only record what they are asked
ask contains {
	"reason": sprintf("asks %s, which only records requests; let the person use it", [effect.host]),
	"help": "A request can carry data away in its address.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("net.fetch")
	lib.matches(effect, "host", `(^|[.])(webhook[.]site|requestbin[.](com|net)|pipedream[.]net|beeceptor[.]com|interact[.]sh|oast[.](fun|pro|live|me|online|site)|burpcollaborator[.]net|dnslog[.]cn)$`)
}

metadata(effect) if lib.is(effect, "metadata", true)

# Names that a public service resolves to the address in them.
metadata(effect) if lib.matches(effect, "host", `(^|[.-])169[.-]254[.-](169[.-]254|170[.-]2)([.-]|$)`)

# Addresses that a tool is given.
addresses contains url if {
	some field in ["url", "urls", "prompt", "href", "link", "endpoint"]
	some url in words(input.tool_input[field])
}

words(value) := split(replace(value, "\n", " "), " ") if is_string(value)

words(value) := [word | some word in value; is_string(word)] if is_array(value)

confidential(url) if regex.match(`(?i)^https?://[^/?#@]+:[^/?#@]+@`, url)

confidential(url) if {
	regex.match(`(?i)[?&;](access_?token|auth_?token|api_?key|apikey|secret|client_?secret|password|passwd|pwd|private_?key|aws_secret_access_key|session_?token)=[^&#]{6,}`, url)
}
