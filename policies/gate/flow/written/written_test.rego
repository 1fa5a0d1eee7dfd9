package gate.flow.written_test

import data.gate.flow.written
import data.gate.opaque.unknown

# running is the event of a line that runs a text with code that nobody knows.
running(call, thing, flow) := object.union(gate.event(call), {
	"facts": {"unknown": [object.union(
		{"kind": "code", "why": "$CMD is not set in this line", "command": 1, "span": null, "written": true},
		thing,
	)]},
	"flow": flow,
})

wrote(path) := {
	"effect": "exec.code", "command": 1, "origin": "written", "what": null, "path": path,
	"host": null, "call": "toolu_before", "via": [], "how": "file", "coarse": false,
}

test_asks if {
	every line in ["make", "pytest -q", "sh scripts/deploy.sh", "npm test", "git commit -m x"] {
		some question in written.ask with input as running(line, {}, [wrote("/home/dev/work/app/Makefile")])
		question.reason == "runs what an agent wrote, and it cannot be judged beforehand: $CMD is not set in this line; write plainly what it runs"
		question.help == "A call before this one wrote /home/dev/work/app/Makefile. Read it before it runs."
		count(unknown.ask) == 0 with input as running(line, {}, [])
	}
}

test_asks_without_a_path if {
	some question in written.ask with input as running("make", {}, [])
	question.help == "A call before this one wrote the text. Read it before it runs."
}

# What nobody wrote in this session, what is known, and code of the network that another policy holds back.
test_passes if {
	every line in ["make", "pytest -q", "npm test", "git status", "sh scripts/deploy.sh"] {
		count(written.ask) == 0 with input as gate.event(line)
		count(written.ask) == 0 with input as running(line, {"written": false}, [])
	}
	remote := object.union(running("make", {}, []), {"facts": {"effects": [{"kind": "exec.remote", "command": 1}]}})
	count(written.ask) == 0 with input as remote
}
