package company.large_write_test

import data.company.large_write

written(content) := gate.event({"tool": "Write", "input": {"file_path": "/home/dev/project/a", "content": content}})

test_warns_above_the_limit if {
	large_write.warn == {"writes 5 characters into /home/dev/project/a"} with input as written("äöü12")
		with data.gate.params.company.large_write.characters as 4
}

test_says_nothing if {
	count(large_write.warn) == 0 with input as written("")
	count(large_write.warn) == 0 with input as written("short")
	count(large_write.warn) == 0 with input as written("1234")
		with data.gate.params.company.large_write.characters as 4
}
