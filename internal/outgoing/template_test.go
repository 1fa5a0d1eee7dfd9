package outgoing_test

import (
	"encoding/json"
	"testing"

	"gate/internal/outgoing"
	"gate/internal/strictjson"
)

func TestFillTemplate(t *testing.T) {
	doc := map[string]any{
		"tool_name": "Bash", "n": json.Number("3"), "none": nil,
		"tool_input": map[string]any{"command": "rm ${tool_name}", "files": []any{"a", map[string]any{"b": true}}},
	}
	for in, want := range map[string]string{
		`{"a": 1, "b": [true, null, "x"]}`:            `{"a":1,"b":[true,null,"x"]}`,
		`"${tool_input.command}"`:                     `"rm ${tool_name}"`, // what the event says is no template
		`"run ${tool_input.command} by ${tool_name}"`: `"run rm ${tool_name} by Bash"`,
		`"${tool_input}"`:                             `{"command":"rm ${tool_name}","files":["a",{"b":true}]}`,
		`{"x": ["${tool_input.files.1.b}", "${n}"]}`:  `{"x":[true,3]}`,
		`"n is ${n}, ${tool_input.files} ${none}"`:    `"n is 3, [\"a\",{\"b\":true}] null"`,
		`"${none}"`:                  `null`,
		`"$tool_name $ARGUMENTS"`:    `"$tool_name $ARGUMENTS"`,
		`"${tool_name}${tool_name}"`: `"BashBash"`,
		`"${missing}"`:               "error: the event has no missing",
		`["${tool_input.files.2}"]`:  "error: the event has no tool_input.files.2",
		`["${tool_input.files.-1}"]`: "error: the event has no tool_input.files.-1",
		`"${tool_name.x}"`:           "error: the event has no tool_name.x",
		`"${tool_input."`:            `error: "${tool_input." is no part of an event; write ${tool_input.command}`,
	} {
		tree, err := strictjson.Decode([]byte(in), strictjson.Limits{})
		if err != nil {
			t.Fatal(in, err)
		}
		filled, err := outgoing.FillTemplate(tree, doc)
		got := string(strictjson.Append(nil, filled))
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
