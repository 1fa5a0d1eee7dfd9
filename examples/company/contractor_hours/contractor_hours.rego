# METADATA
# title: Working hours of contractors
# description: |
#   Outside working hours agents of contractors only look. What is not understood
#   may be more than a look.
# custom:
#   gate:
#     events: [PreToolUse]
#     params:
#       users: {type: array, default: [], description: accounts of contractors}
#       zone: {type: string, default: Europe/Berlin, description: time zone}
#       hours: {type: array, default: [8, 18], description: the first hour of work and the first one after it}
package company.contractor_hours

deny contains sprintf("contractors' agents only read now; work goes on at %d:00 (%s)", [params.hours[0], params.zone]) if {
	input.gate.user in params.users
	resting
	changes
}

params := data.gate.params.company.contractor_hours

now := [time.parse_rfc3339_ns(input.gate.now), params.zone]

resting if time.clock(now)[0] < params.hours[0]

resting if time.clock(now)[0] >= params.hours[1]

resting if time.weekday(now) in {"Saturday", "Sunday"}

changes if input.facts.opaque

changes if {
	some effect in input.facts.effects
	not effect.kind in {"fs.read", "net.fetch", "secret.read"}
	object.get(effect, "access", "write") != "read"
}
