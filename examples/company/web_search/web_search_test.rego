package company.web_search_test

import data.company.web_search

query(text) := gate.event({"tool": "WebSearch", "input": {"query": text}})

test_denies if {
	every text in ["Project Bluebird timeout", "error in ACME internal api"] {
		count(web_search.deny) == 1 with input as query(text)
	}
}

test_passes if {
	every text in ["bluebird promise library", "go context timeout", ""] {
		count(web_search.deny) == 0 with input as query(text)
	}
	count(web_search.deny) == 0 with input as gate.event("echo project bluebird")
}

test_words_are_a_parameter if {
	count(web_search.deny) == 1 with input as query("the Redwood plan")
		with data.gate.params.company.web_search.words as ["redwood"]
}
