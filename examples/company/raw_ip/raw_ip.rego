# METADATA
# title: Hosts by name
# description: Programs reach hosts by name, not by an address, which nobody can look up in a list or a log.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(net.*), effect(exec.*)]
package company.raw_ip

import data.gate.lib

deny contains {"reason": sprintf("reaches %s by its address; use the name of the host", [e.host]), "span": lib.span(e)} if {
	some e in input.facts.effects
	is_string(e.host)
	regex.match(`^[0-9.]+$|^0[xX][0-9a-fA-F]+$|:`, e.host)
	not e.host in {"127.0.0.1", "::1"}
}
