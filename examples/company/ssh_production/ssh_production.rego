# METADATA
# title: Production machines
# description: A person agrees before a program connects to a production machine, or to one that is not known.
# custom:
#   gate:
#     events: [PreToolUse]
#     params:
#       production: {type: string, default: '(?i)(^|[^a-z])(prod|production|live)([^a-z]|$)', description: "hosts, RE2"}
package company.ssh_production

import data.gate.lib

ask contains {"reason": sprintf("connects to %s; use a staging machine", [shown]), "span": lib.span(peer)} if {
	some peer in input.facts.hosts
	peer.access == "connect"
	shown := production(peer)
}

production(peer) := "a machine that is not known" if lib.unknown(peer, "host")

production(peer) := peer.host if lib.matches(peer, "host", data.gate.params.company.ssh_production.production)
