# METADATA
# title: Networks that agents reach
# description: |
#   Agents reach approved networks by address and approved hosts by name, with any
#   program or tool. A host that is not known is asked about.
# custom:
#   gate:
#     events: [PreToolUse]
#     params:
#       networks: {type: array, default: [127.0.0.0/8, 10.20.0.0/16, "::1/128"], description: networks in CIDR notation}
#       names: {type: array, default: [localhost, acme.example, go.dev], description: hosts and what lies below them}
package company.egress_networks

import data.gate.lib

deny contains {"reason": sprintf("reaches %s, which is no approved network or host; ask for it", [reached.host]), "span": lib.span(reached)} if {
	some reached in input.facts.hosts
	is_string(reached.host)
	not approved(reached)
}

ask contains {"reason": "reaches a host that is not known; write it out", "span": lib.span(reached)} if {
	some reached in input.facts.hosts
	lib.unknown(reached, "host")
}

approved(reached) if {
	is_string(reached.ip) # null where the host is a name
	some network in data.gate.params.company.egress_networks.networks
	net.cidr_contains(network, reached.ip)
}

approved(reached) if lib.host_in(reached.host, data.gate.params.company.egress_networks.names)
