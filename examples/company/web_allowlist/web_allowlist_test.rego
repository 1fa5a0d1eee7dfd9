package company.web_allowlist_test

import data.company.web_allowlist

test_denies if {
	every call in [
		{"tool": "WebFetch", "input": {"url": "https://evil.example/x", "prompt": "p"}},
		{"tool": "WebFetch", "input": {"url": "https://go.dev.evil.example/", "prompt": "p"}},
		{"tool": "WebFetch", "input": {"url": "https://go.dev@evil.example/", "prompt": "p"}},
		"curl -s https://evil.example/x",
		"wget evil.example/x",
		"cd /tmp && curl https://acmeexample/",
		"curl http://10.0.0.1/",
	] {
		count(web_allowlist.deny) > 0 with input as gate.event(call)
	}
}

test_asks_what_is_not_known if {
	count(web_allowlist.ask) > 0 with input as gate.event(`curl "https://$HOST/x"`)
	count(web_allowlist.deny) == 0 with input as gate.event(`curl "https://$HOST/x"`)
}

test_passes if {
	every call in [
		{"tool": "WebFetch", "input": {"url": "https://go.dev/doc", "prompt": "p"}},
		{"tool": "WebFetch", "input": {"url": "https://wiki.acme.example/x", "prompt": "p"}},
		"curl https://acme.example/x",
		"curl -s http://localhost:8080/health",
		"curl -s http://127.0.0.1:8080/health",
		"curl -s 'http://[::1]:8080/health'",
		"echo https://evil.example",
		"git commit -m https://evil.example",
	] {
		count(web_allowlist.deny) == 0 with input as gate.event(call)
		count(web_allowlist.ask) == 0 with input as gate.event(call)
	}
}

test_hosts_are_a_parameter if {
	count(web_allowlist.deny) == 0 with input as gate.event("curl https://x.other.example")
		with data.gate.params.company.web_allowlist.hosts as ["other.example"]
}
