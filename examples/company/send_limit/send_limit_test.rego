package company.send_limit_test

import data.company.send_limit

send := "curl -d x https://example.com"

# after is a call after so many sends.
after(minute, session) := gate.event({"bash": send, "session": {"effects": {"net.send": {"minute": minute, "round": 0, "session": session}}}})

test_asks if {
	count(send_limit.ask) == 1 with input as after(5, 5)
	count(send_limit.ask) == 1 with input as after(0, 100)
	count(send_limit.ask) == 2 with input as after(5, 100)
	count(send_limit.ask) == 1 with input as gate.event(concat("; ", [send, send, send, send, send, send]))
}

test_passes if {
	count(send_limit.ask) == 0 with input as after(4, 99)
	count(send_limit.ask) == 0 with input as gate.event(send)
}

test_limits_are_parameters if {
	count(send_limit.ask) == 1 with input as gate.event(send)
		with data.gate.params.company.send_limit.per_minute as 0
}
