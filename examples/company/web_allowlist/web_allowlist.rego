# METADATA
# title: Web pages that agents may read
# description: |
#   Agents fetch from approved hosts and from this machine only, by any program or
#   tool. A host that is not known is asked about.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(net.fetch)]
#     params:
#       hosts:
#         type: array
#         default: [acme.example, go.dev, docs.python.org, developer.mozilla.org]
#         description: hosts that may be read, with what lies below them
package company.web_allowlist

import data.gate.lib

deny contains {"reason": sprintf("fetches from %s, which is not on the list; ask for it", [fetch.host]), "span": lib.span(fetch)} if {
	some fetch in lib.effects("net.fetch")
	is_string(fetch.host)
	not local(fetch.host)
	not lib.host_in(fetch.host, data.gate.params.company.web_allowlist.hosts)
}

ask contains {"reason": "fetches from a host that is not known; write the address out", "span": lib.span(fetch)} if {
	some fetch in lib.effects("net.fetch")
	lib.unknown(fetch, "host")
}

local(host) if host in {"localhost", "127.0.0.1", "::1"}
