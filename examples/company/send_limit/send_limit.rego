# METADATA
# title: Few sends
# description: |
#   Asks before an agent sends data out more often than usual, within a minute or
#   a session. What was sent by calls that were rejected does not count.
# custom:
#   gate:
#     events: [PreToolUse]
#     if: [effect(net.send)]
#     params:
#       per_minute: {type: number, default: 5, description: sends in a minute}
#       per_session: {type: number, default: 100, description: sends in a session}
package company.send_limit

import data.gate.lib

limits := data.gate.params.company.send_limit

before := object.get(input.session, ["effects", "net.send"], {"minute": 0, "session": 0})

ask contains sprintf("%d sends in a minute; wait, or say why", [minute]) if {
	minute := before.minute + count(lib.effects("net.send"))
	minute > limits.per_minute
}

ask contains sprintf("%d sends in this session; say why", [session]) if {
	session := before.session + count(lib.effects("net.send"))
	session > limits.per_session
}
